package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"

	"beckon/render/web/peer"
	"beckon/render/web/respond"
)

// A port belongs to whoever listens first. When this server has ended, another user's program
// may take it, and a page that is still open would send it the key. So before a page sends its
// key, the server must prove that it knows it: the page names the key by a digest and sends
// random words, and the server answers with a value that can only be computed with the key.
// Another user gets no answer, so that nobody can ask on a page's behalf.
const proofPath = "/api/proof"

// proved is the response to a page.
type proved struct {
	Proof string `json:"proof"`
}

// proof serves GET /api/proof?key=NAME&words=WORDS.
func (d *Door) proof(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	key, ok := d.keys.named(q.Get("key"), peerOf(r).Name, time.Now())
	if words := q.Get("words"); ok && len(words) >= keyBits/4 {
		respond.JSON(w, http.StatusOK, proved{seal(key, "proof "+words)})
		return
	}
	respond.Error(w, errUnauthorized)
}

// asksProof reports whether r asks for a proof, which everybody may except another user of
// this machine, who would ask on behalf of the page that they deceive.
func asksProof(r *http.Request) bool {
	return r.Method == http.MethodGet && r.URL.Path == proofPath && peerOf(r).Who != peer.Another
}

// seal computes from words a value that requires the key. The key is given by its digest,
// which is never sent.
func seal(key, words string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(words))
	return hex.EncodeToString(mac.Sum(nil))
}

// named returns the digest of the key that a page names, among those that user may sign in
// with or is signed in with.
func (k *keys) named(name, user string, now time.Time) (string, bool) {
	is := func(key string) bool { return hmac.Equal([]byte(seal(key, "name")), []byte(name)) }
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range []string{k.token, k.pass} {
		if key != "" && is(digest(key)) {
			return digest(key), true
		}
	}
	for key, t := range k.tickets {
		if now.Before(t.until) && is(key) {
			return key, true
		}
	}
	for _, s := range k.sessions {
		if s.user == user && is(s.key) {
			return s.key, true
		}
	}
	return "", false
}
