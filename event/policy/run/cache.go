package run

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/plainfile"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/event/redact"
)

const (
	cacheTTL    = time.Hour // how long an answer of a model is used again
	cacheBytes  = 1 << 20   // of all files: some thousand answers
	maxCached   = 16 << 10  // an answer of ours is smaller
	cacheSuffix = ".json"
)

// Cache is a directory, created when needed, with models' answers in files, one for each
// question, named by its hash; "" stores nothing. The question itself is not stored, nor are
// secrets found in the answer. A file that cannot be read or written costs a question, never
// an error. Many processes may use it at once.
type Cache trust.Dir

// kept is the content of a file.
type kept struct {
	Schema int   `json:"schema"`
	At     int64 `json:"at"` // ms
	judgement
}

const cacheSchema = 1

// cacheKey returns the hash of everything that an answer depends on.
func cacheKey(parts []string) string {
	all := instructions
	for _, p := range parts {
		all += strconv.Itoa(len(p)) + ":" + p // the length separates neighbours
	}
	return trust.Sum(all)
}

// get returns the answer stored for a key, if it is not too old.
func (c Cache) get(key string, now time.Time) (judgement, bool) {
	if c == "" {
		return judgement{}, false
	}
	data, err := plainfile.ReadFile(trust.Dir(c).Path(key + cacheSuffix))
	var k kept
	if err != nil || len(data) > maxCached || json.Unmarshal(data, &k) != nil || k.Schema != cacheSchema {
		return judgement{}, false
	}
	switch k.Decision {
	case wire.Allow, wire.Block, wire.Continue:
	default:
		return judgement{}, false
	}
	age := now.Sub(time.UnixMilli(k.At))
	return k.judgement, age > -time.Second && age < cacheTTL
}

// put stores an answer, and removes old ones if there are too many.
func (c Cache) put(key string, j judgement, now time.Time) {
	if c == "" {
		return
	}
	j.Reason = redact.Text(j.Reason)
	if data, err := json.Marshal(kept{cacheSchema, now.UnixMilli(), j}); err == nil && len(data) <= maxCached {
		_ = trust.Dir(c).Write(data, key+cacheSuffix) // a missing one is asked again
	}
	c.sweep(now)
}

// sweep removes old answers, and then the oldest until the rest fits.
func (c Cache) sweep(now time.Time) {
	entries, err := os.ReadDir(trust.Dir(c).Path())
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), cacheSuffix) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for _, f := range files { // newest first
		total += f.Size()
		if total > cacheBytes || now.Sub(f.ModTime()) > cacheTTL {
			_ = trust.Dir(c).Remove(f.Name())
		}
	}
}
