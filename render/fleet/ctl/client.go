package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"beckon/event"
	"beckon/render/fleet"
	"beckon/state/offer"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats.go"
	"github.com/tidwall/gjson"
)

// Client sends orders to links.
type Client struct {
	ID   *Identity
	Conn *nats.Conn
}

// patience is how long a link may take to carry out an order: longer than the process that
// holds a call takes to answer its client.
const patience = offer.Delivery + 5*time.Second

// Refused is the error for an order that a link refused, in its words.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

// ErrDeaf means that nobody listens at the other end.
var ErrDeaf = errors.New("that machine takes no answers from the fleet: its setting answers_from_fleet names nobody, its link has ended, or its access is of an earlier beckon")

// ErrMayNot means that this machine's access does not allow it.
var ErrMayNot = errors.New("this machine's access to the fleet does not let it answer: beckon fleet invite --answer gives one that does")

// Look asks for a session's open requests. An offer that is too long to send comes without its
// payload.
func (c *Client) Look(ctx context.Context, link, session string) ([]offer.Offer, error) {
	list, _, err := c.look(ctx, link, session)
	return list, err
}

func (c *Client) look(ctx context.Context, link, session string) (list []offer.Offer, nonce string, err error) {
	t, err := c.ask(ctx, link, asking{Op: opLook, Session: session})
	if err != nil {
		return nil, "", err
	}
	for _, a := range t.Offers {
		o, err := a.sound(session)
		if err != nil {
			return nil, "", err
		}
		list = append(list, o)
	}
	return list, t.Nonce, nil
}

// sound returns the offer that another machine sent, if it can belong to that session. Of a
// call it uses what the digest covers, because a hub could have changed the rest.
func (a asked) sound(session string) (offer.Offer, error) {
	o := a.Offer
	var err error
	if o.Payload, err = a.payload(); err != nil || !offer.IsID(o.ID) || o.Record != session || o.Payload != nil && offer.Digest(o.Payload) != o.Digest {
		return offer.Offer{}, offer.ErrChanged
	}
	said := gjson.ParseBytes(o.Payload)
	if tool := said.Get("tool_name"); tool.Exists() {
		if o.Tool = tool.Str; o.Kind != offer.KindOf(event.PermissionRequest, o.Tool) {
			return offer.Offer{}, offer.ErrChanged
		}
	}
	if cwd := said.Get("cwd"); cwd.Exists() {
		o.Cwd = cwd.Str
	}
	return o, nil
}

// Answer answers a session's request, and returns the result in words.
func (c *Client) Answer(ctx context.Context, link, session string, a offer.Answer) (string, error) {
	return c.order(ctx, link, asking{Op: opAnswer, Session: session, Answer: &a})
}

// Say makes a session whose turn is over continue with a text.
func (c *Client) Say(ctx context.Context, link, session, text string) (string, error) {
	return c.order(ctx, link, asking{Op: opSay, Session: session, Text: text})
}

// Stop ends a session's turn.
func (c *Client) Stop(ctx context.Context, link, session string) (string, error) {
	return c.order(ctx, link, asking{Op: opStop, Session: session})
}

// order fetches a one-time number and sends an order with it.
func (c *Client) order(ctx context.Context, link string, q asking) (string, error) {
	var err error
	if _, q.Nonce, err = c.look(ctx, link, q.Session); err != nil {
		return "", err
	}
	t, err := c.ask(ctx, link, q)
	return t.Done, err
}

// ask sends a message and waits for a reply that the link's machine has signed.
func (c *Client) ask(ctx context.Context, link string, q asking) (t response, err error) {
	if !isLink(link) {
		return t, ErrDeaf
	}
	if own, err := jwt.DecodeUserClaims(c.ID.token); err != nil || !permits(own, link) {
		return t, ErrMayNot
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	subject, inbox := Subject(link, c.ID.Key), c.Conn.NewInbox()
	data, err := c.ID.Seal(subject, inbox, q)
	if err != nil {
		return t, err
	}
	if len(data) > maxMessage {
		return t, errors.New("it is too long to be sent")
	}
	sub, err := c.Conn.SubscribeSync(inbox)
	if err != nil {
		return t, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := c.Conn.PublishRequest(subject, inbox, data); err != nil {
		return t, err
	}
	parts := strings.Split(link, ".")
	for {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrNoResponders) || err == nil && len(m.Data) == 0 && m.Header.Get("Status") == "503":
			return t, ErrDeaf
		case errors.Is(err, context.DeadlineExceeded):
			return t, fmt.Errorf("that machine has not answered in %s; whether it did what it was told is not known", patience)
		case err != nil:
			return t, err
		}
		who, err := c.ID.open(inbox, "", m.Data, time.Now(), func(*jwt.UserClaims) bool { return true }, &t)
		if err != nil || fleet.Token(who.User) != parts[0] || fleet.Token(who.Host) != parts[1] {
			t = response{}
			continue // not the link's
		}
		if t.Refused != "" {
			return t, &Refused{t.Refused}
		}
		return t, nil
	}
}

// isLink reports whether a text can name a link: a stranger's text must not become another
// subject.
func isLink(s string) bool {
	parts := strings.Split(s, ".")
	for _, p := range parts {
		if p == "" || len(p) > 80 || strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return len(parts) == 4
}
