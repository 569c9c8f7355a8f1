package store

import (
	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
)

// maxMeter is the size limit of a meter file; ours have about 200 bytes.
const maxMeter = 4 << 10

// SetMeter stores a report of session k's status line. It takes no lock.
// The file is replaced as a whole; of two simultaneous reports either may remain.
func (st *Store) SetMeter(k Key, m event.Meter) error {
	data := append(jsonenc.Append(nil, &m), '\n')
	return st.write("meter-"+string(k)+"-"+unique(), meterDir, string(k)+".json", data)
}

// Meter returns the last report of session k's status line, nil if there is none or it cannot
// be read.
func (st *Store) Meter(k Key) *event.Meter {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	data, err := readInto(*buf, st.path(meterDir, string(k)+".json"), maxMeter)
	if err != nil {
		return nil
	}
	var m event.Meter
	if !jsonenc.Decode(string(data), &m) {
		return nil
	}
	return &m
}

// Meters lists the sessions with a status line's report.
func (st *Store) Meters() map[Key]bool {
	keys, _ := st.keys(meterDir)
	known := make(map[Key]bool, len(keys))
	for _, k := range keys {
		known[k] = true
	}
	return known
}

// MeterStamp returns the stamp of a report's file, as Stamp does of a session's.
func (st *Store) MeterStamp(k Key) plainfile.Stamp {
	s, _ := plainfile.StampOf(st.path(meterDir, string(k)+".json"))
	return s
}
