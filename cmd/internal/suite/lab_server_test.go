//go:build unix

package suite

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server serves the model APIs of all agents on loopback. Its answers depend on what the user
// typed: see scripts. The zero value is not usable; call NewServer.
type Server struct {
	URL     string // base URL, for ANTHROPIC_BASE_URL
	Project string // replaces $PROJ in tool inputs; set before the first request

	scripts map[string][]Reply

	http   *httptest.Server
	mu     sync.Mutex
	log    []Request
	failed map[string]int // how often a failing reply was given, by prompt
}

// Request is what the server records of a request.
type Request struct {
	At     time.Time
	Method string
	Path   string
	Word   string // the chosen script; empty if it was not a Messages request
	Step   int    // index of the reply given
	Body   []byte
}

// NewServer starts a server on a free loopback port.
func NewServer() *Server {
	s := &Server{scripts: scripts, failed: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("POST /v1/responses", s.serve(openAIResponses))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(chatCompletions))
	mux.HandleFunc("POST /v1beta/models/{call}", s.serve(geminiAPI))
	mux.HandleFunc("/", s.harmless)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every unfinished answer.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns the requests so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, r)
}

func (s *Server) harmless(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Body: body})
	answer(w, http.StatusOK, map[string]any{})
}

func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.note(Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Body: body})
	answer(w, http.StatusOK, map[string]int{"input_tokens": defaultTokens})
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	req, err := parseRequest(body)
	if err != nil {
		answer(w, http.StatusBadRequest, errorBody("invalid_request_error", "unreadable request"))
		return
	}
	p := req.place(s.scripts)
	reply := s.reply(p, req)
	s.note(Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Word: p.word, Step: p.step, Body: body})
	select {
	case <-time.After(reply.Delay):
	case <-r.Context().Done():
		return
	}
	if reply.Limits {
		limits(w.Header(), strings.Fields(p.args), time.Now())
	}
	switch {
	case reply.Status != 0:
		answer(w, reply.Status, errorBody(reply.Error, "scripted "+reply.Error))
	case req.Stream:
		stream(w, r, req.Model, reply)
	default:
		answer(w, http.StatusOK, whole(req.Model, reply))
	}
}

// limits writes how much of a subscriber's windows is used, as the real API does: of five
// hours and of seven days, in percent.
func limits(h http.Header, used []string, now time.Time) {
	const prefix = "Anthropic-Ratelimit-Unified-"
	h.Set(prefix+"Status", "allowed")
	h.Set(prefix+"Representative-Claim", "five_hour")
	for i, of := range []struct {
		name  string
		reset time.Duration
	}{{"5h", 3 * time.Hour}, {"7d", 4 * 24 * time.Hour}} {
		if percent, err := strconv.ParseFloat(used[min(i, len(used)-1)], 64); err == nil {
			h.Set(prefix+of.name+"-Status", "allowed")
			h.Set(prefix+of.name+"-Utilization", strconv.FormatFloat(percent/100, 'f', -1, 64))
			h.Set(prefix+of.name+"-Reset", strconv.FormatInt(now.Add(of.reset).Unix(), 10))
		}
	}
}

// reply chooses the reply for p. A failing reply does not advance the conversation, so
// failures are counted; a script that ends in one fails forever.
func (s *Server) reply(p place, req modelRequest) Reply {
	script := s.scripts[p.word]
	step := p.step
	if script[min(step, len(script)-1)].Status != 0 {
		s.mu.Lock()
		step += s.failed[p.id]
		s.failed[p.id]++
		s.mu.Unlock()
	}
	r := script[min(step, len(script)-1)]
	r.Tools = slices.Clone(r.Tools)
	for i, t := range r.Tools {
		if !req.offers(t.Name) && req.offers(toolSearch) && !p.searched {
			return call(Tool{toolSearch, object("query", "select:"+t.Name)})
		}
		r.Tools[i].Input = fill(t.Input, p.args, s.Project, req.plan(), req.agent())
	}
	return r
}

func labNumber(b bool) int {
	if b {
		return 1
	}
	return 0
}

// toolSearch is the tool with which newer clients load deferred tools.
const toolSearch = "ToolSearch"

func (r modelRequest) offers(tool string) bool {
	return slices.ContainsFunc(r.Tools, func(t offered) bool { return t.Name == tool })
}

var planFile = regexp.MustCompile(`/[^"\s\\` + "`" + `]+/plans/[^"\s\\` + "`" + `]+\.md`)

// plan returns the file to which the client wants a plan written.
func (r modelRequest) plan() string { return string(planFile.Find(r.raw)) }

var agentID = regexp.MustCompile(`agent_id[\\": ]+([0-9a-f-]+)`)

// agent returns the id of the subagent that was started last.
func (r modelRequest) agent() string {
	all := agentID.FindAllSubmatch(r.raw, -1)
	if len(all) == 0 {
		return ""
	}
	return string(all[len(all)-1][1])
}

// modelRequest holds the parts of a Messages request that matter here.
type modelRequest struct {
	Model    string    `json:"model"`
	Stream   bool      `json:"stream"`
	Messages []message `json:"messages"`
	Tools    []offered `json:"tools"`
	raw      []byte
}

type offered struct {
	Name string `json:"name"`
}

type message struct {
	Role    string
	Content []block
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	Name string `json:"name"` // of a tool_use
}

// UnmarshalJSON accepts content as a string or as blocks.
func (m *message) UnmarshalJSON(b []byte) error {
	var raw struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	m.Role = raw.Role
	var s string
	if json.Unmarshal(raw.Content, &s) == nil {
		m.Content = []block{{Type: "text", Text: s}}
		return nil
	}
	return json.Unmarshal(raw.Content, &m.Content)
}

// searches reports whether m only loads the schema of a deferred tool, which
// is not a step of a script.
func (m message) searches() bool {
	return slices.ContainsFunc(m.Content, func(b block) bool { return b.Name == toolSearch })
}

// queued reports whether m contains a prompt that was typed during the turn; 2.1.197 sends
// those as system messages.
func (m message) queued() bool {
	return strings.Contains(m.text(), "The user sent a new message while")
}

func (m message) text() string {
	var texts []string
	for _, b := range m.Content {
		if strings.HasSuffix(b.Type, "text") { // input_text, output_text
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func parseRequest(body []byte) (modelRequest, error) {
	r := modelRequest{raw: body}
	err := json.Unmarshal(body, &r)
	return r, err
}

// place is the position in a conversation: the script of the newest prompt and how many
// assistant messages have followed it.
type place struct {
	word string
	args string
	step int
	id   string // the same for a retry of the same request

	searched bool // the last step was to look for a tool
}

// place finds the newest user text that names a script. A request without tools is the
// client's own (for a title, say), unless it asks for a summary or a judgement.
func (r modelRequest) place(scripts map[string][]Reply) place {
	p := place{word: "plain"}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		if m.Role == "assistant" {
			p.searched = p.searched || p.step == 0 && m.searches()
			p.step += 1 - labNumber(m.searches())
		}
		if m.Role != "user" && !m.queued() {
			continue
		}
		if word, args, ok := wordOf(m.text(), scripts); ok {
			p.word, p.args = word, args
			break
		}
	}
	if bytes.Contains(r.raw, []byte("You are a security monitor for autonomous")) {
		p.word = "harmless"
		if strings.Contains(p.args, "harmful") {
			p.word = "harmful"
		}
	} else if len(r.Tools) == 0 && p.word != "summary" && !strings.HasPrefix(p.word, "judge") {
		p.word = "aside"
	}
	p.id = fmt.Sprintln(p.word, p.args, p.step, len(r.Messages))
	return p
}

// compaction matches the requests of Claude Code, codex, gemini and qwen for a summary.
var compaction = regexp.MustCompile(`create a detailed summary|helping the next LLM seamlessly|<state_snapshot>`)

func wordOf(text string, scripts map[string][]Reply) (word, args string, ok bool) {
	switch {
	case strings.Contains(text, "<task-notification>"):
		return "notified", "", true
	case compaction.MatchString(text):
		return "summary", "", true
	}
	all := labWord.FindAllStringSubmatch(text, -1)
	for i := len(all) - 1; i >= 0; i-- {
		if _, known := scripts[all[i][1]]; known {
			return all[i][1], strings.TrimSpace(all[i][2]), true
		}
	}
	if strings.Contains(text, "continued from a previous conversation") {
		return "continued", "", true
	}
	return "", "", false
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("request-id", "req_"+randomHex(12))
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client hung up: nothing to do
}

func errorBody(kind, message string) any {
	return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}}
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return hex.EncodeToString(b)
}
