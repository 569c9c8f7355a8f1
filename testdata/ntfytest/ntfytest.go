// Package ntfytest starts a server for a test with ntfy's protocol as docs.ntfy.sh documents
// it: publishing as JSON and to a topic, subscribing to a JSON stream, since=, poll=1,
// keepalives, access tokens. It can simulate the loss of the network.
package ntfytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a running server.
type Server struct {
	URL string
	// Keepalive is the interval of its keepalives.
	Keepalive time.Duration

	http   *httptest.Server
	mu     sync.Mutex
	topics map[string][]Message
	news   chan struct{} // closed at each change
	gone   bool
	rights map[string]map[string]string // by token, then topic: "r", "w" or "rw"
	n      int
	subs   int
}

// Message is a published message.
type Message struct {
	ID       string   `json:"id"`
	Time     int64    `json:"time"`
	Event    string   `json:"event"`
	Topic    string   `json:"topic"`
	Title    string   `json:"title,omitempty"`
	Message  string   `json:"message"`
	Priority int      `json:"priority,omitempty"`
	Click    string   `json:"click,omitempty"`
	Actions  []Action `json:"actions,omitempty"`
	Sequence string   `json:"sequence_id,omitempty"`
}

// Action is a button.
type Action struct {
	Action, Label, URL, Method, Body string
	Clear                            bool
}

// Start starts a server for the duration of a test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Keepalive: 45 * time.Second, topics: map[string][]Message{}, news: make(chan struct{})}
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	t.Cleanup(func() {
		s.Lose()
		s.http.Close()
	})
	return s
}

// Protect restricts the topics to tokens, as rights says: by token, then topic, "r", "w" or
// "rw". The token "" means everybody.
func (s *Server) Protect(rights map[string]map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rights = rights
}

// Lose simulates the loss of the network: connections break, and no new one is answered.
func (s *Server) Lose() { s.change(func() { s.gone = true }); s.http.CloseClientConnections() }

// Back ends the loss of the network.
func (s *Server) Back() { s.change(func() { s.gone = false }) }

func (s *Server) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.news)
	s.news = make(chan struct{})
}

// Published returns the messages published to a topic.
func (s *Server) Published(topic string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.topics[topic])
}

// Await waits until n messages were published to a topic.
func (s *Server) Await(t testing.TB, topic string, n int) []Message {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if all := s.Published(topic); len(all) >= n {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("%s has %d messages, not %d", topic, len(s.Published(topic)), n)
		}
	}
}

// Subscriptions returns how many were made so far.
func (s *Server) Subscriptions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs
}

// Put publishes a text to a topic, as another program with access to it could.
func (s *Server) Put(topic, text string) { s.add(Message{Topic: topic, Message: text}) }

// Press does what a phone does when a button is pressed.
func (m Message) Press(t testing.TB, label string) {
	t.Helper()
	for _, a := range m.Actions {
		if a.Label != label || a.Action != "http" {
			continue
		}
		req, err := http.NewRequest(a.Method, a.URL, strings.NewReader(a.Body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("pressing %s: %s", label, res.Status)
		}
		return
	}
	t.Fatalf("there is no button %s: %+v", label, m.Actions)
}

// Labels returns the labels of the buttons.
func (m Message) Labels() (all []string) {
	for _, a := range m.Actions {
		all = append(all, a.Label)
	}
	return all
}

// ServeHTTP implements the protocol.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	gone := s.gone
	s.mu.Unlock()
	if gone {
		panic(http.ErrAbortHandler)
	}
	topic := strings.Trim(r.URL.Path, "/")
	switch {
	case r.Method == http.MethodGet && topic == "v1/health":
		fmt.Fprintln(w, `{"healthy":true}`)
	case r.Method == http.MethodGet:
		topic, ok := strings.CutSuffix(topic, "/json")
		if !ok {
			http.NotFound(w, r)
		} else if s.may(w, r, topic, "r") {
			s.subscribe(w, r, topic)
		}
	case topic == "":
		m := Message{}
		if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&m); err != nil || m.Topic == "" || len(m.Actions) > 3 {
			http.Error(w, `{"code":40024,"http":400,"error":"invalid request: request body must be message JSON"}`, http.StatusBadRequest)
		} else if s.may(w, r, m.Topic, "w") {
			s.took(w, m)
		}
	default:
		body, _ := io.ReadAll(io.LimitReader(r.Body, 4096))
		if s.may(w, r, topic, "w") {
			s.took(w, Message{Topic: topic, Message: string(body)})
		}
	}
}

func (s *Server) may(w http.ResponseWriter, r *http.Request, topic, right string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rights == nil || strings.Contains(s.rights[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")][topic], right) {
		return true
	}
	http.Error(w, `{"code":40301,"http":403,"error":"forbidden"}`, http.StatusForbidden)
	return false
}

func (s *Server) took(w http.ResponseWriter, m Message) {
	_ = json.NewEncoder(w).Encode(s.add(m))
}

func (s *Server) add(m Message) Message {
	s.change(func() {
		s.n++
		m.ID, m.Time, m.Event = fmt.Sprintf("m%d", s.n), time.Now().Unix(), "message"
		m.Message = cmp.Or(m.Message, "triggered")
		s.topics[m.Topic] = append(s.topics[m.Topic], m)
	})
	return m
}

func (s *Server) subscribe(w http.ResponseWriter, r *http.Request, topic string) {
	s.change(func() { s.subs++ })
	out := json.NewEncoder(w)
	from := s.since(topic, r.URL.Query().Get("since"))
	_ = out.Encode(Message{ID: "o", Time: time.Now().Unix(), Event: "open", Topic: topic})
	for {
		s.mu.Lock()
		all, news, gone := s.topics[topic], s.news, s.gone
		s.mu.Unlock()
		if gone {
			panic(http.ErrAbortHandler)
		}
		for ; from < len(all); from++ {
			_ = out.Encode(all[from])
		}
		if r.URL.Query().Get("poll") == "1" {
			return
		}
		w.(http.Flusher).Flush()
		select {
		case <-news:
		case <-time.After(s.Keepalive):
			_ = out.Encode(Message{ID: "k", Time: time.Now().Unix(), Event: "keepalive", Topic: topic})
		case <-r.Context().Done():
			return
		}
	}
}

// since returns where a subscription begins: the documented values are a duration, a time, a
// message and "all"; without one it begins with new messages.
func (s *Server) since(topic, since string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.topics[topic]
	if since == "" {
		return len(all)
	}
	if i := slices.IndexFunc(all, func(m Message) bool { return m.ID == since }); i >= 0 {
		return i + 1
	}
	at, err := strconv.ParseInt(since, 10, 64)
	if d, bad := time.ParseDuration(since); bad == nil {
		at, err = time.Now().Add(-d).Unix(), nil
	}
	if err != nil {
		return 0
	}
	if i := slices.IndexFunc(all, func(m Message) bool { return m.Time >= at }); i >= 0 {
		return i
	}
	return len(all)
}
