package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event/atomicfile"
	"beckon/event/plainfile"
)

const (
	keyBits     = 128                 // of a token, at least
	maxSessions = 64                  // signed-in browsers; the longest idle one is dropped
	sessionFor  = 90 * 24 * time.Hour // without use
	usedEvery   = 24 * time.Hour      // how exactly the file tells when a session was used
	maxFile     = 64 << 10
)

// sessions are the signed-in browsers: "ID.SECRET", of which the server keeps the id and the
// secret's digest. A session works only for the user who signed in: a page of http://localhost
// sends it to whatever listens on the same port at the other address that this name has.
type sessions struct {
	path  string // of the file with those that are kept, empty for none
	token string // the fingerprint of the owner's, with which they end
	log   func(error)

	mu  sync.Mutex
	all map[string]*session // by id
}

type session struct {
	Digest string        `json:"digest"`
	User   string        `json:"user,omitempty"` // as package peer names users
	Used   time.Time     `json:"used"`
	Token  string        `json:"token,omitempty"` // the fingerprint of the owner's; earlier versions noted none
	kept   bool          // over a restart
	over   chan struct{} // closed when it ends
}

func loadSessions(dir, token string, log func(error)) *sessions {
	s := &sessions{token: token, log: log, all: map[string]*session{}}
	if s.log == nil {
		s.log = func(error) {}
	}
	if dir == "" {
		return s
	}
	s.path = filepath.Join(dir, "browsers.json")
	if b, err := plainfile.Head(s.path, make([]byte, maxFile), 0); err == nil {
		_ = json.Unmarshal(b, &s.all) // of a broken file nobody is signed in
	}
	maps.DeleteFunc(s.all, func(_ string, v *session) bool {
		return v == nil || time.Since(v.Used) > sessionFor || len(v.Digest) != 2*sha256.Size ||
			v.Token != "" && v.Token != token
	})
	unnoted := false
	for _, v := range s.all {
		unnoted = unnoted || v.Token == ""
		v.Token, v.kept, v.over = token, true, make(chan struct{})
	}
	if unnoted {
		s.saveLocked() // nobody else has s yet
	}
	return s
}

// saveLocked writes those that are kept.
func (s *sessions) saveLocked() {
	if s.path == "" {
		return
	}
	kept := maps.Clone(s.all)
	maps.DeleteFunc(kept, func(_ string, v *session) bool { return !v.kept })
	b, err := json.Marshal(kept)
	if err == nil {
		err = atomicfile.Write(s.path, b, 0o600, true)
	}
	if err != nil {
		s.log(err)
	}
}

func digestOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// find returns the id of a session of one of user's browsers, empty if it is none, and records
// its use.
func (s *sessions) find(key, user string) string {
	id, secret, ok := strings.Cut(key, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.all[id]
	if !ok || v == nil || v.User != user || !same(digestOf(secret), v.Digest) {
		return ""
	}
	now := time.Now()
	stale := v.kept && now.Sub(v.Used) > usedEvery
	if v.Used = now; stale {
		s.saveLocked()
	}
	return id
}

// begin creates a session.
func (s *sessions) begin(user string, kept bool, now time.Time) string {
	id, secret := newKey()[:16], newKey()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxSessions {
		s.endLocked(slices.MinFunc(slices.Collect(maps.Keys(s.all)), func(a, b string) int {
			return s.all[a].Used.Compare(s.all[b].Used)
		}))
	}
	s.all[id] = &session{digestOf(secret), user, now, s.token, kept, make(chan struct{})}
	if kept {
		s.saveLocked()
	}
	return id + "." + secret
}

// end ends a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.all[id]; v != nil {
		s.endLocked(id)
		if v.kept {
			s.saveLocked()
		}
	}
}

func (s *sessions) endLocked(id string) {
	close(s.all[id].over)
	delete(s.all, id)
}

// over returns a channel that is closed when a session ends, nil for none.
func (s *sessions) over(id string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.all[id]; v != nil {
		return v.over
	}
	if id == "" {
		return nil
	}
	ended := make(chan struct{})
	close(ended)
	return ended
}

// digest returns the digest of a session of one of user's browsers, empty if it is none.
func (s *sessions) digest(id, user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.all[id]; v != nil && v.User == user {
		return v.Digest
	}
	return ""
}
