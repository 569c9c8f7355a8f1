package run

import (
	"encoding/json"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/event/redact"
)

const (
	// DefaultCacheTTL is how long an answer of a model is used again.
	DefaultCacheTTL = time.Hour
	// DefaultCacheBytes bounds the directory: 1 MiB, some thousand answers.
	DefaultCacheBytes = 1 << 20

	maxCached   = 16 << 10 // an answer of ours is smaller
	cacheSuffix = ".json"
)

// Cache keeps answers of models in files, one for each question, named by its
// hash. The question itself is not kept, and the answer without the secrets
// that were found in it. A file that cannot be read or written costs a
// question, never an error. It may be used by many processes at once.
type Cache struct {
	Dir   trust.Dir     // made with mode 0700 when there is something to keep
	TTL   time.Duration // 0 means DefaultCacheTTL
	Bytes int64         // of all files; 0 means DefaultCacheBytes
}

// kept is the content of a file.
type kept struct {
	Schema int   `json:"schema"`
	At     int64 `json:"at"` // ms
	judgement
}

const cacheSchema = 1

// cacheKey is the hash of all that an answer depends on.
func cacheKey(parts []string) string {
	all := instructions
	for _, p := range parts {
		all += strconv.Itoa(len(p)) + ":" + p // the length keeps neighbours apart
	}
	return trust.Sum(all)
}

func (c *Cache) ttl() time.Duration {
	if c.TTL == 0 {
		return DefaultCacheTTL
	}
	return c.TTL
}

func (c *Cache) limit() int64 {
	if c.Bytes == 0 {
		return DefaultCacheBytes
	}
	return c.Bytes
}

// get returns the answer that is kept for a key, if it is not too old.
func (c *Cache) get(key string, now time.Time) (judgement, bool) {
	if c == nil {
		return judgement{}, false
	}
	data, err := os.ReadFile(c.Dir.Path(key + cacheSuffix))
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
	return k.judgement, age > -time.Second && age < c.ttl()
}

// put keeps an answer, and takes old ones out where there are too many.
func (c *Cache) put(key string, j judgement, now time.Time) {
	if c == nil {
		return
	}
	j.Reason = redact.Text(j.Reason)
	if data, err := json.Marshal(kept{cacheSchema, now.UnixMilli(), j}); err == nil && len(data) <= maxCached {
		_ = c.Dir.Write(data, key+cacheSuffix) // what is not kept is asked again
	}
	c.sweep(now)
}

// sweep removes what is too old, and then the oldest, until the rest fits.
func (c *Cache) sweep(now time.Time) {
	entries, err := os.ReadDir(c.Dir.Path())
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
		if total > c.limit() || now.Sub(f.ModTime()) > c.ttl() {
			_ = c.Dir.Remove(f.Name())
		}
	}
}
