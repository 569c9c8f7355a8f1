package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/redact"
	"beckon/render/card"
	"beckon/state/alert"
	"beckon/state/request"
)

const (
	ntfyLimit = 10 * time.Second // for one request
	ntfyQuiet = 2 * time.Minute  // that a subscription may be silent: a server sends something every 45 s
	ntfyPause = 3 * time.Second  // after a failure, and up to as much again
	ntfyMost  = 16 << 20         // bytes read from one connection
	ntfyRows  = 12               // that a phone shows of a notification
)

// Phone is the channel of a phone, through a server with ntfy's protocol (docs.ntfy.sh).
// Nothing listens on this machine: notifications are published to one topic, and the phone's
// buttons publish to another, to which the process that sent them subscribes.
//
// An answer counts once, in time, and only if it is the secret of a button, which this process
// keeps in memory.
type Phone struct {
	alert.Reach
	Log func(error) // of Ask

	quiet, pause time.Duration // 0 for the usual ones
}

// Channel returns the channel. It has buttons if there is a topic for answers.
func (p *Phone) Channel() Channel {
	c := Channel{Name: alert.Ntfy, Send: p.Send}
	if p.full() {
		c.Rows = ntfyRows
	}
	if p.Answers != "" && p.Usable() == nil {
		c.Ask = p.Ask
	}
	return c
}

// full reports whether the phone gets the whole call. It does not if others can read the
// traffic, because they could press its buttons, too.
func (p *Phone) full() bool { return p.Texts == alert.TextsFull && p.Private() }

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

func (p *Phone) message(m ntfyMessage) ntfyMessage {
	_, m.Topic = p.At()
	m.Click = p.Page
	m.Message = cmp.Or(m.Message, m.Title) // the server would insert a text of its own
	if p.Page != "" {
		m.Actions = append(m.Actions, ntfyAction{Action: "view", Label: "Open", URL: p.Page})
	}
	return m
}

// Ask publishes a with buttons, and waits for their answers, also while there is no network.
func (p *Phone) Ask(ctx context.Context, a Ask) (word request.Word, become func(string), err error) {
	waiting, cancel := context.WithDeadline(ctx, a.Expires)
	defer cancel()
	m := ntfyMessage{Title: a.Title, Message: a.Body, Priority: ntfyHigh, Sequence: a.Request}
	words := map[string]request.Word{} // by the secret that a button publishes
	for _, w := range a.Buttons {
		secret := rand.Text()
		words[secret] = w
		m.Actions = append(m.Actions, ntfyAction{Action: "http", Label: buttonLabels[w], Method: http.MethodPost,
			URL: p.url(p.Answers), Body: secret, Clear: true})
	}
	since := ""
	p.retry(waiting, func() error {
		since, err = p.publish(waiting, p.message(m))
		return err
	})
	become = func(said string) {
		if !p.full() {
			said, _, _ = strings.Cut(said, ": ") // the rest may contain the call, or who answered it
		}
		end := ntfyMessage{Title: a.Title, Message: redact.Text(event.OneLine(cmp.Or(said, "It is over."), 200)),
			Priority: ntfySilent, Sequence: a.Request}
		if _, err := p.publish(context.WithoutCancel(ctx), p.message(end)); err != nil {
			p.log(err)
		}
	}
	if len(words) == 0 {
		<-waiting.Done()
		return "", become, nil
	}
	p.retry(waiting, func() error {
		word, err = p.listen(waiting, words, &since)
		return err
	})
	if !time.Now().Before(a.Expires) {
		word = "" // it came too late
	}
	return word, become, nil
}

// retry calls do until it succeeds or ctx ends. It logs the first failure.
func (p *Phone) retry(ctx context.Context, do func() error) {
	for failed := false; ; failed = true {
		err := do()
		if err == nil || ctx.Err() != nil {
			return
		}
		if !failed {
			p.log(err)
		}
		pause := cmp.Or(p.pause, ntfyPause)
		select { // clients that lost the server must not all return at once
		case <-time.After(pause + mathrand.N(pause)):
		case <-ctx.Done():
			return
		}
	}
}

func (p *Phone) log(err error) { p.Log(fmt.Errorf("ntfy: %w", err)) }

func (p *Phone) url(path string) string {
	server, _ := p.At()
	return server + "/" + path
}

// client follows no redirection: our messages are for this server only.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// do sends a request; any status other than 200 is an error.
func (p *Phone) do(ctx context.Context, method, address string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err = cmp.Or(err, p.Usable()); err != nil {
		return nil, err
	}
	if token, _ := p.Secret(); token != "" { // Usable has read it, too
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("User-Agent", "beckon")
	res, err := client.Do(req)
	var u *url.Error
	switch {
	case errors.As(err, &u):
		return nil, u.Err // the address contains the topic, which may be the only secret
	case err != nil:
		return nil, err
	case res.StatusCode != http.StatusOK:
		res.Body.Close()
		return nil, fmt.Errorf("the server %s answers %s", req.URL.Host, res.Status)
	}
	return res, nil
}

// ntfyEvent is a line of a subscription, and the answer to a published message.
type ntfyEvent struct {
	ID      string `json:"id"`
	Time    int64  `json:"time"`
	Event   string `json:"event"` // "open", "keepalive", "message"
	Message string `json:"message"`
}

// publish publishes m and returns the server's time of it.
func (p *Phone) publish(ctx context.Context, m ntfyMessage) (since string, err error) {
	body, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, ntfyLimit)
	defer cancel()
	res, err := p.do(ctx, http.MethodPost, p.url(""), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var e ntfyEvent
	if err := json.NewDecoder(io.LimitReader(res.Body, ntfyMost)).Decode(&e); err != nil || e.Time == 0 {
		return "", fmt.Errorf("%s is not an ntfy server: it does not say when it took the message", res.Request.URL.Host)
	}
	return strconv.FormatInt(e.Time, 10), nil
}

// listen waits for a button's secret until the connection ends. since is the message after
// which the server starts.
func (p *Phone) listen(ctx context.Context, words map[string]request.Word, since *string) (request.Word, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	quiet := cmp.Or(p.quiet, ntfyQuiet)
	silent := time.AfterFunc(quiet, cancel)
	defer silent.Stop()
	res, err := p.do(ctx, http.MethodGet, p.url(p.Answers)+"/json?since="+url.QueryEscape(*since), nil)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	for lines := json.NewDecoder(io.LimitReader(res.Body, ntfyMost)); ; {
		var e ntfyEvent
		if err := lines.Decode(&e); err != nil {
			return "", err
		}
		silent.Reset(quiet)
		if e.Event != "message" {
			continue
		}
		*since = cmp.Or(e.ID, *since)
		if word, ok := words[e.Message]; ok { // topics are shared: anything else is not for us
			return word, nil
		}
	}
}

// Check checks that this machine may read the answers; without a topic for them, that the
// server responds. Nothing is sent to the phone.
func (p *Phone) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ntfyLimit)
	defer cancel()
	address := p.url("v1/health")
	if p.Answers != "" {
		address = p.url(p.Answers) + "/json?poll=1&since=1s"
	}
	res, err := p.do(ctx, http.MethodGet, address, nil)
	if err == nil {
		res.Body.Close()
	}
	return err
}
