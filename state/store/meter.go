package store

import (
	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state/cache"
)

// maxMeter is the size limit of a meter file; ours have about 200 bytes.
const maxMeter = 4 << 10

// SetMeter stores a report of session k's status line. It takes no lock and writes no journal.
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

// Meters reads the status lines' reports of many sessions. Callers must close it.
type Meters struct {
	st    *Store
	keys  []Key
	known map[Key]bool
	cache *cache.Cache[Key, event.Meter]
}

// Meters lists the sessions with a status line's report.
func (st *Store) Meters() *Meters {
	m := &Meters{st: st}
	m.keys, _ = st.keys(meterDir)
	m.known = make(map[Key]bool, len(m.keys))
	for _, k := range m.keys {
		m.known[k] = true
	}
	m.cache = cache.Open[Key, event.Meter](st.CacheFile(meterDir), st.path(meterDir, ""), len(m.keys))
	return m
}

// Of is Store.Meter. It returns nil if m is nil.
func (m *Meters) Of(k Key) *event.Meter {
	if m == nil || !m.known[k] {
		return nil
	}
	var kept event.Meter
	file, ok := m.cache.Get(k, string(k)+".json", &kept)
	if ok {
		return &kept
	}
	report := m.st.Meter(k)
	if report != nil {
		m.cache.Put(k, report, file)
	}
	return report
}

// Close writes the cache. m may be nil.
func (m *Meters) Close() {
	if m != nil {
		m.cache.Close(m.keys)
	}
}
