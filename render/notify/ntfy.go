package notify

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/render/card"
	"beckon/render/notify/reach"
	"beckon/state/alert"
	"beckon/state/request"
)

// Limits on the server's responses, and on retries.
const (
	ntfyLimit = 10 * time.Second // for one request
	// ntfyQuiet is how long a subscription may be silent: a server sends something every 45 s.
	ntfyQuiet    = 2 * time.Minute
	ntfyFirst    = time.Second // the first pause after a failure
	ntfyLongest  = time.Minute // the longest
	ntfyMostLine = 64 << 10
	ntfyLogged   = 3  // rejected answers logged per connection
	ntfyRows     = 12 // rows that a phone shows of a notification
)

// Phone is the channel of a phone, through a server with ntfy's protocol (docs.ntfy.sh).
// Nothing listens on this machine: notifications are published to one topic, and the phone's
// buttons publish to another, to which the process that sent them subscribes.
//
// An answer counts once, in time, for the offer that it names, and only with a signature by a
// key that this process created and keeps in memory.
type Phone struct {
	reach.Settings
	Log func(error) // may be nil

	quiet, first time.Duration // 0 are the limits
	now          func() time.Time
}

// Name returns the channel's name in the configuration.
func (*Phone) Name() string { return alert.Ntfy }

// Asks reports whether there is a topic for answers.
func (p *Phone) Asks() bool { return p.Ntfy.Answers != "" && p.Ntfy.Check() == nil }

// Words says how much leaves this machine.
func (p *Phone) Words() Words { return Words{Rows: ntfyRows, Full: p.full(), Away: true} }

// full reports whether the phone gets the whole call. It does not if others can read the
// traffic, because they could press its buttons, too.
func (p *Phone) full() bool { return p.Texts == reach.TextsFull && p.Ntfy.Private() }

// ntfyMessage is a published message, as JSON for the server's root.
type ntfyMessage struct {
	Topic    string       `json:"topic"`
	Title    string       `json:"title,omitempty"`
	Message  string       `json:"message"`
	Priority int          `json:"priority,omitempty"`
	Click    string       `json:"click,omitempty"`
	Actions  []ntfyAction `json:"actions,omitempty"`
	// Sequence identifies the message that a later one replaces, on servers that support it
	// (2.16); on others that is an additional message.
	Sequence string `json:"sequence_id,omitempty"`
}

type ntfyAction struct {
	Action string `json:"action"` // "http" or "view"
	Label  string `json:"label"`
	URL    string `json:"url"`
	Method string `json:"method,omitempty"`
	Body   string `json:"body,omitempty"`
	Clear  bool   `json:"clear"`
}

// Priorities of messages.
const (
	ntfySilent = 1
	ntfyHigh   = 4
)

// Send publishes n, without buttons that answer.
func (p *Phone) Send(ctx context.Context, n Note) error {
	if err := p.Ntfy.Check(); err != nil {
		return err
	}
	m := ntfyMessage{Title: n.Project + " " + alert.Verb(n.Kind), Message: n.Tool}
	if p.full() || n.Test || n.Public {
		m.Title, m.Message = n.Title, n.Body
	}
	m.Title, m.Message = redact.Text(card.Line1(m.Title)), redact.Text(card.Line1(m.Message))
	if !n.Kind.Over() {
		m.Priority = ntfyHigh
	}
	_, err := p.publish(ctx, p.message(m))
	return err
}

// message completes a message for the phone's topic.
func (p *Phone) message(m ntfyMessage) ntfyMessage {
	m.Topic, m.Click = p.Ntfy.Topic, p.Ntfy.Page
	m.Message = cmp.Or(m.Message, m.Title) // the server would insert a text of its own
	if p.Ntfy.Page != "" {
		m.Actions = append(m.Actions, ntfyAction{Action: "view", Label: "Open", URL: p.Ntfy.Page})
	}
	return m
}

// Ask publishes a with buttons, and waits for their answers, also while there is no network.
func (p *Phone) Ask(ctx context.Context, a Ask) (word request.Word, become func(string), err error) {
	become = func(string) {}
	if err := p.Ntfy.Check(); err != nil {
		return "", become, err
	}
	s := newSigner(&a)
	m := ntfyMessage{Title: a.Title, Message: a.Text, Priority: ntfyHigh, Sequence: a.Offer}
	for _, w := range a.Buttons {
		m.Actions = append(m.Actions, ntfyAction{Action: "http", Label: buttonLabels[w], Method: http.MethodPost,
			URL: p.url(p.Ntfy.Answers), Body: s.answer(w), Clear: true})
	}
	since := ""
	p.retry(ctx, func() (bool, error) {
		since, err = p.publish(ctx, p.message(m))
		return false, err
	})
	become = func(said string) {
		if !p.full() {
			said, _, _ = strings.Cut(said, ": ") // the rest may contain the call, or who answered it
		}
		end := ntfyMessage{Title: a.Title, Message: redact.Text(event.OneLine(cmp.Or(said, "It is over."), 200)),
			Priority: ntfySilent, Sequence: a.Offer}
		if _, err := p.publish(context.WithoutCancel(ctx), p.message(end)); err != nil {
			p.log(err)
		}
	}
	if len(a.Buttons) == 0 {
		<-ctx.Done()
		return "", become, nil
	}
	p.retry(ctx, func() (alive bool, err error) {
		word, alive, err = p.listen(ctx, &s, &since)
		return alive, err
	})
	return word, become, nil
}

// retry calls do until it succeeds or ctx ends, after increasing pauses; progress resets them.
func (p *Phone) retry(ctx context.Context, do func() (progress bool, err error)) {
	first := cmp.Or(p.first, ntfyFirst)
	pause, failed := first, false
	for ; ; pause = min(2*pause, ntfyLongest) {
		progress, err := do()
		if err == nil || ctx.Err() != nil {
			return
		}
		if progress {
			pause = first
		} else if !failed {
			p.log(err) // once, until there is progress
		}
		failed = !progress
		// clients that lost the server must not all return at once
		jitter := time.Duration(mathrand.Int64N(int64(pause)/2 + 1))
		if sleep(ctx, pause+jitter) != nil {
			return
		}
	}
}

func (p *Phone) log(err error) {
	if p.Log != nil {
		p.Log(fmt.Errorf("ntfy: %w", err))
	}
}

func (p *Phone) url(path string) string { return strings.TrimRight(p.Ntfy.Server, "/") + "/" + path }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// client follows no redirection: our messages are for this server only.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a request; any status other than 200 is an error.
func (p *Phone) do(req *http.Request) (*http.Response, error) {
	token, err := p.Ntfy.Secret()
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("User-Agent", "beckon")
	res, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address contains the topic, which may be the only secret
		}
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("the server %s answers %s", req.URL.Host, res.Status)
	}
	return res, nil
}

// publish publishes m and returns the server's time of it.
func (p *Phone) publish(ctx context.Context, m ntfyMessage) (since string, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, ntfyLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url(""), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	res, err := p.do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var e ntfyEvent
	if err := json.NewDecoder(io.LimitReader(res.Body, ntfyMostLine)).Decode(&e); err != nil || e.Time == 0 {
		return "", fmt.Errorf("%s is not an ntfy server: it does not say when it took the message", req.URL.Host)
	}
	return strconv.FormatInt(e.Time, 10), nil
}

// ntfyEvent is a line of a subscription.
type ntfyEvent struct {
	ID      string `json:"id"`
	Time    int64  `json:"time"`
	Event   string `json:"event"` // "open", "keepalive", "message"
	Message string `json:"message"`
}

// get asks the server for what is at an address.
func (p *Phone) get(ctx context.Context, address string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	return p.do(req)
}

// listen waits for an answer until the connection ends. since is the message after which the
// server starts; alive reports whether it sent anything.
func (p *Phone) listen(ctx context.Context, s *signer, since *string) (word request.Word, alive bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := cmp.Or(p.quiet, ntfyQuiet)
	silent := time.AfterFunc(quiet, cancel)
	defer silent.Stop()
	res, err := p.get(ctx, p.url(p.Ntfy.Answers)+"/json?since="+url.QueryEscape(*since))
	if err != nil {
		return "", false, err
	}
	defer res.Body.Close()
	lines, refused := bufio.NewReaderSize(res.Body, ntfyMostLine), 0
	for {
		line, long, err := lines.ReadLine()
		if err != nil {
			return "", alive, err
		}
		for long && err == nil { // none of ours
			line = nil
			_, long, err = lines.ReadLine()
		}
		silent.Reset(quiet)
		var e ntfyEvent
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		alive = true
		if e.Event != "message" {
			continue
		}
		if e.ID != "" {
			*since = e.ID
		}
		word, err := s.read(e.Message, p.time())
		if err == nil {
			return word, true, nil
		}
		if !errors.Is(err, errNotOurs) && refused < ntfyLogged {
			refused++
			p.log(err)
		}
	}
}

func (p *Phone) time() time.Time {
	if p.now != nil {
		return p.now()
	}
	return time.Now()
}

// Reach checks that this machine may read the answers; without a topic for them, that the
// server responds. Nothing is sent to the phone.
func (p *Phone) Reach(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ntfyLimit)
	defer cancel()
	address := p.url("v1/health")
	if p.Ntfy.Answers != "" {
		address = p.url(p.Ntfy.Answers) + "/json?poll=1&since=1s"
	}
	res, err := p.get(ctx, address)
	if err == nil {
		res.Body.Close()
	}
	return err
}

// signer signs the answers to one offer and verifies them. Its key is in no file, so that
// reading everything this machine stores is not enough to forge one.
type signer struct {
	ask *Ask
	key []byte
}

func newSigner(a *Ask) signer {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails
	return signer{a, key}
}

// errNotOurs means that a message is not an answer to the offer, since topics are shared.
var errNotOurs = errors.New("the message is not an answer to this offer")

const answerMark = "beckon-answer"

// sign signs an answer with that expiry, in milliseconds. No field can contain a space, so
// fields cannot run together.
func (s *signer) sign(w, expires string) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s %s %s %s %s", answerMark, s.ask.Offer, s.ask.Digest, w, expires)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// answer returns the message of a button.
func (s *signer) answer(w request.Word) string {
	expires := strconv.FormatInt(s.ask.Expires.UnixMilli(), 10)
	return strings.Join([]string{answerMark, s.ask.Offer, string(w), expires, s.sign(string(w), expires)}, " ")
}

func (s *signer) read(message string, now time.Time) (request.Word, error) {
	parts := strings.Split(message, " ")
	if len(parts) != 5 || parts[0] != answerMark || parts[1] != s.ask.Offer {
		return "", errNotOurs
	}
	w, expires := parts[2], parts[3]
	if !hmac.Equal([]byte(s.sign(w, expires)), []byte(parts[4])) {
		return "", errors.New("an answer was refused: its signature is not ours")
	}
	if at, err := strconv.ParseInt(expires, 10, 64); err != nil || now.UnixMilli() >= at {
		return "", errors.New("an answer was refused: it has expired")
	}
	if !slices.Contains(s.ask.Buttons, request.Word(w)) {
		return "", errors.New("an answer was refused: it was not offered")
	}
	return request.Word(w), nil
}
