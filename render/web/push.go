package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/event/redact"
	"beckon/render/notify"
	"beckon/render/web/access"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/request"

	"github.com/SherClockHolmes/webpush-go"
)

const (
	pushLimit = 10 * time.Second // for one message to one device
	pushAgain = 5 * time.Second  // until an alert that waits is looked at again
	pushFor   = 12 * time.Hour   // how long a push service keeps the message for a device that is off
	pushMost  = 3800             // bytes of a message: services take 4096, encrypted
	pushRows  = 12               // of a request, that a device shows

	maxAddress = 2048 // bytes of a device's address and keys
)

// pushed is an alert that is open, as the page's service worker shows it.
type pushed struct {
	Path  string `json:"path"` // of its session's page
	Title string `json:"title"`
	Body  string `json:"body,omitempty"`

	// Buttons, with which the page answers the request that was shown.
	Words   []request.Word `json:"words,omitempty"`
	Request string         `json:"offer,omitempty"`
	Digest  string         `json:"digest,omitempty"`
	Drawn   string         `json:"drawn,omitempty"`

	id   string // of the alert
	at   event.Millis
	done bool      // a turn is over: nothing waits
	sent bool      // the devices know of it
	next time.Time // when to decide on it, zero for never
}

// message is what a device is to show, instead of all that it was sent before.
type message struct {
	Notices []*pushed `json:"notices"` // the newest first
	More    int       `json:"more,omitempty"`
	News    bool      `json:"news,omitempty"` // one of them is new
}

// pusher tells devices what is open, by Web Push, and when that has changed. Messages are encrypted
// for the device.
type pusher struct {
	s      *Server
	open   map[string]*pushed // by record; nil before the first look
	client *http.Client
}

// look decides on the alerts in seen. What is open when the first device subscribes is no news.
func (p *pusher) look(ctx context.Context, seen []state.Seen, now time.Time) {
	devices := p.s.guard.Devices()
	if len(devices) == 0 {
		p.open = nil
		return
	}
	open := map[string]*pushed{}
	var fresh, gone []*pushed
	for i := range seen {
		v := &seen[i]
		is := state.AlertStateOf(v.Session, v.Evidence, event.MillisOf(now))
		if !is.Open || is.Alert.Kind.Over() && !v.Status.Unseen {
			continue
		}
		record := v.Session.Record()
		n := p.open[record]
		if n == nil || n.id != is.Alert.ID() {
			n = &pushed{id: is.Alert.ID(), at: is.Alert.At, done: is.Alert.Kind.Over()}
			if delay := is.Alert.Kind.Delay(); p.open != nil {
				if is.Alert.Dialog { // its user may be about to answer it
					delay = state.Stillness
				}
				n.next = (is.Alert.At + delay).Time()
			}
		}
		if open[record] = n; !n.next.IsZero() && !now.Before(n.next) && p.decide(n, v, is.Alert, now) {
			fresh = append(fresh, n)
		}
	}
	for record, n := range p.open {
		if n.sent && open[record] != n {
			gone = append(gone, n)
		}
	}
	p.open = open
	var sending sync.WaitGroup
	for id, d := range devices {
		concerns := func(n *pushed) bool { return d.Done || !n.done }
		if news := slices.ContainsFunc(fresh, concerns); news || slices.ContainsFunc(gone, concerns) {
			sending.Go(func() { p.send(ctx, id, &d, p.message(concerns, news)) })
		}
	}
	sending.Wait()
}

// decide reports whether the user is to be told of an alert now, and writes the notice.
func (p *pusher) decide(n *pushed, v *state.Seen, a state.Alert, now time.Time) bool {
	c := alert.Case{Alert: a, Session: &v.Session}
	is := p.s.o.Alerts().Remind(c, live.Focus, now)
	if n.next = now.Add(pushAgain); is.Verdict == state.Later {
		return false
	}
	n.next = time.Time{}
	if is.Verdict != state.Notify {
		return false
	}
	n.sent, n.Path = true, "/session/"+url.PathEscape(cmp.Or(v.Session.Seat, v.Session.ID))
	n.Title, n.Body = alert.Words(&v.Session, a)
	if o, ok := notify.RequestOf(p.s.dir(), &c, now); ok {
		ask := notify.AskOf(&o, evidence.ThisMachine().Host, pushRows)
		n.Title, n.Body = ask.Title, ask.Body
		if !p.s.dir().HasPIN() { // a button cannot ask for it
			n.Words, n.Request, n.Digest, n.Drawn = ask.Buttons, o.ID, o.Digest, drawn(&o).Drawn
		}
	}
	n.Title, n.Body = redact.Text(n.Title), redact.Text(n.Body)
	p.s.o.Log(p.s.o.Store.Decide(c.Decided(is, "serve", "push", now)))
	return true
}

// message returns what is open and concerns a device.
func (p *pusher) message(concerns func(*pushed) bool, news bool) []byte {
	m := message{Notices: []*pushed{}, News: news}
	for _, n := range p.open {
		if n.sent && concerns(n) {
			m.Notices = append(m.Notices, n)
		}
	}
	slices.SortFunc(m.Notices, func(a, b *pushed) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.Path, b.Path))
	})
	for {
		b, _ := json.Marshal(&m) // texts alone
		if len(b) <= pushMost {
			return b
		}
		m.Notices, m.More = m.Notices[:len(m.Notices)-1], m.More+1
	}
}

func (p *pusher) send(ctx context.Context, id string, d *access.Device, message []byte) {
	ctx, cancel := context.WithTimeout(ctx, pushLimit)
	defer cancel()
	private, public, err := p.s.vapid()
	if err != nil {
		p.s.o.Log(err)
		return
	}
	res, err := webpush.SendNotificationWithContext(ctx, message, &d.Subscription, &webpush.Options{
		HTTPClient:      p.client,
		Subscriber:      d.Site,
		Topic:           "beckon", // a newer message replaces one that was not delivered
		TTL:             int(pushFor.Seconds()),
		Urgency:         webpush.UrgencyHigh,
		VAPIDPublicKey:  public,
		VAPIDPrivateKey: private,
	})
	if u, is := errors.AsType[*url.Error](err); is {
		err = u.Err // who knows the address may send to the device
	}
	if err != nil {
		p.s.o.Log(fmt.Errorf("web push: %w", err))
		return
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone: // it does not subscribe any more
		p.s.guard.SetDevice(id, nil)
	case res.StatusCode >= http.StatusMultipleChoices:
		p.s.o.Log(fmt.Errorf("web push: the service %s answers %s", res.Request.URL.Host, res.Status))
	}
}

// vapid returns the keys that identify the sender to push services. They are made once.
func (s *Server) vapid() (private, public string, err error) {
	path := filepath.Join(s.o.Store.Dir, "vapid")
	b, err := plainfile.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if private, public, err = webpush.GenerateVAPIDKeys(); err == nil {
			b = []byte(private + " " + public)
			err = plainfile.Write(path, b, 0o600, true)
		}
	}
	private, public, _ = strings.Cut(string(b), " ")
	return private, public, err
}

// pushState is the response of GET /api/push.
type pushState struct {
	Key string `json:"key"` // the application server's
	On  bool   `json:"on"`  // the browser that asks is told
}

// getPush serves GET /api/push.
func (s *Server) getPush(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, _ := s.guard.Session(r)
	_, key, err := s.vapid()
	_, on := s.guard.Devices()[id]
	return pushState{key, on}, err
}

// setPush serves POST /api/push: a PushSubscription, or an empty one to end it.
func (s *Server) setPush(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, _ := s.guard.Session(r)
	var d access.Device
	if err := read(r, &d, `for example {"endpoint": "https://...", "keys": {"auth": "", "p256dh": ""}}`); err != nil {
		return nil, err
	}
	if d.Endpoint == "" {
		s.guard.SetDevice(id, nil)
		return access.Done, nil
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil || u.Scheme != "https" || u.Host == "" || len(d.Endpoint+d.Keys.Auth+d.Keys.P256dh) > maxAddress {
		const text = "a push service's address begins with https://"
		return nil, access.NewFault(http.StatusBadRequest, "bad_endpoint", text, "")
	}
	d.Site = "https://" + access.Host(r.Host)
	s.guard.SetDevice(id, &d)
	return access.Done, nil
}
