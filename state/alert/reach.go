package alert

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"beckon/event/home"
)

// Reach is the user's choice of what a notification shows, and where it goes.
type Reach struct {
	Actions string // notify_actions: "true" or "false", whether the desktop's have buttons
	Texts   string // notify_texts: what leaves this machine, TextsTool or TextsFull
	Topic   string // ntfy_topic, which the phone subscribes to: a name, or an address with a name
	Answers string // ntfy_answers: the topic that the phone's buttons write to
	Token   string // ntfy_token: for this machine, or the file that contains it
	Page    string // ntfy_page: what "Open" opens
}

// How much of a call leaves this machine.
const (
	TextsTool = "tool" // the project's and the tool's name
	TextsFull = "full" // the call, without secrets that are found in it
)

// CheckServer returns what is wrong with the address of a server or a page.
func CheckServer(s string) error {
	u, err := url.Parse(s)
	if s == "" || err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" {
		return nil
	}
	return fmt.Errorf("%q is not an address", s)
}

// CheckTopic returns what is wrong with a topic's name.
func CheckTopic(s string) error {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" // by the protocol
	if len(s) > 64 || strings.Trim(s, allowed) != "" {
		return fmt.Errorf("%q is not a topic", s)
	}
	return nil
}

// CheckSubscribed returns what is wrong with a topic's name or address.
func CheckSubscribed(s string) error {
	server, topic := Reach{Topic: s}.At()
	return cmp.Or(CheckServer(server), CheckTopic(topic))
}

// At returns the address of the server, ntfy.sh unless the topic has one, and the topic's name there.
func (n Reach) At() (server, topic string) {
	if i := strings.LastIndexByte(n.Topic, '/'); i >= 0 {
		return n.Topic[:i], n.Topic[i+1:]
	}
	return "https://ntfy.sh", n.Topic
}

// Usable returns why nothing can be sent with these settings.
func (n Reach) Usable() error {
	switch _, topic := n.At(); topic {
	case "":
		return errors.New("ntfy_topic is not set")
	case n.Answers:
		return errors.New(
			"ntfy_answers must not be the same topic as ntfy_topic: whoever can read the questions must not see the answers",
		)
	}
	_, err := n.Secret()
	return errors.Join(CheckSubscribed(n.Topic), CheckTopic(n.Answers), CheckServer(n.Page), err)
}

// Secret returns this machine's access token for the server, "" for none; it may be in a file.
func (n Reach) Secret() (string, error) {
	path, ok := strings.CutPrefix(n.Token, "~")
	switch {
	case ok:
		path = home.Dir(os.Getenv) + path
	case !strings.HasPrefix(n.Token, "/"):
		return n.Token, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading ntfy_token: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// Private reports whether nobody between this machine and the server can read what is sent.
func (n Reach) Private() bool {
	server, _ := n.At()
	u, err := url.Parse(server)
	if err != nil {
		return false
	}
	ip, _ := netip.ParseAddr(u.Hostname()) // that of a name is no loopback
	return u.Scheme == "https" || u.Hostname() == "localhost" || ip.IsLoopback()
}
