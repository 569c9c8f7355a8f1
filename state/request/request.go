// Package request keeps what agents ask their user and what the user answered, wherever that
// was: each request is a directory of files.
//
// A hook that keeps its client's call open makes a request (Make) and waits for its answer
// (Wait). A program that shows requests lists them (List), draws them with render/card, and
// answers one (Answer).
//
// It guarantees: of any number of answers to a request one counts, and the others learn whose
// it was (TakenError); an answer counts only for the request that was drawn, by its random id
// and the digest of all that the client sent; a request that has expired, whose call is over
// or whose process is gone takes none; with a PIN only an answer that it signs counts. It does not
// guarantee that the dialog was not answered at the session at the same moment; the client takes
// whichever comes first and does not say which.
//
// The caller must find out who may answer, and say so in From and By: for a command, with
// evidence.InClient and evidence.OwnTerminal. The files are the user's own (0600 in 0700):
// they keep other users out, not a program that runs as this user.
package request

import (
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/plainfile"
	"beckon/state"

	"github.com/tidwall/gjson"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
	// Delivery is how long to wait for an Outcome, which takes milliseconds.
	Delivery = 3 * time.Second
	// recorded is how long the client's transcript may take to say whose answer counted.
	recorded = time.Second
	// kept is how long who answered a request is kept.
	kept = time.Hour
	// silent is how long a waiter that cannot be seen from here may touch no file of its request.
	silent = 2 * time.Minute
)

// Kind is what a request asks for.
type Kind string

// The kinds of requests, and the words that each takes.
const (
	Permission Kind = "permission" // Allow, Deny
	Question   Kind = "question"   // Allow with Choices, Deny
	Plan       Kind = "plan"       // Allow, Deny
	Reply      Kind = "reply"      // Say: the turn is over
)

// KindOf returns what the call of a tool asks for.
func KindOf(tool string) Kind {
	return cmp.Or(map[string]Kind{"AskUserQuestion": Question, "ExitPlanMode": Plan}[tool], Permission)
}

// Alert returns the kind of alert that such a request is.
func (k Kind) Alert() state.AlertKind {
	if k == Question {
		return state.AlertQuestion
	}
	return state.AlertPermission
}

// Request is what an agent asks its user, while its hook waits for the answer.
type Request struct {
	ID      string       `json:"id"`
	Kind    Kind         `json:"kind"`
	Agent   string       `json:"agent,omitempty"` // the one that asks, empty for Claude Code
	Event   string       `json:"event"`
	Record  string       `json:"record"`     // the session's, see state.Session.Record
	Session string       `json:"session_id"` // the client's id of it
	Actor   string       `json:"agent_id,omitempty"`
	Type    string       `json:"agent_type,omitempty"` // of the subagent
	UseID   string       `json:"tool_use_id,omitempty"`
	Tool    string       `json:"tool,omitempty"`
	Hash    string       `json:"hash,omitempty"` // as in event.Tool
	Digest  string       `json:"digest"`         // of its file, and so of all that is shown of it
	Cwd     string       `json:"cwd,omitempty"`
	Project string       `json:"project,omitempty"`
	Host    string       `json:"host,omitempty"`
	Branch  string       `json:"branch,omitempty"`
	Made    event.Millis `json:"made_at"`
	Expires event.Millis `json:"expires_at"`
	// Headless is set if nobody sits in front of the session: `claude -p`.
	Headless bool          `json:"headless,omitempty"`
	Waiter   event.Process `json:"waiter"`
	Client   event.Process `json:"client"`

	// Payload is what the client sent, byte for byte.
	Payload []byte `json:"-"`
}

// Input returns the exact input of the call.
func (r *Request) Input() json.RawMessage {
	return json.RawMessage(gjson.GetBytes(r.Payload, "tool_input").Raw)
}

// Suggestions returns the permission updates with which the client itself would stop asking;
// Answer.Always chooses one. AskUserQuestion and plans have none.
func (r *Request) Suggestions() (list []json.RawMessage) {
	if r.Kind != Permission {
		return nil
	}
	for _, v := range gjson.GetBytes(r.Payload, "permission_suggestions").Array() {
		if v.IsObject() {
			list = append(list, json.RawMessage(v.Raw))
		}
	}
	return list
}

// Choice is one question of a Question.
type Choice struct {
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"`
	Several  bool     `json:"several,omitempty"` // more than one option may be chosen
	Options  []Option `json:"options"`
}

// Option is an answer that a question proposes.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Choices returns the questions of a Question.
func (r *Request) Choices() (list []Choice) {
	if r.Kind != Question {
		return nil
	}
	for _, q := range gjson.GetBytes(r.Payload, "tool_input.questions").Array() {
		c := Choice{
			Question: q.Get("question").String(),
			Header:   q.Get("header").String(),
			Several:  q.Get("multiSelect").Bool(),
		}
		for _, x := range q.Get("options").Array() {
			c.Options = append(c.Options, Option{x.Get("label").String(), x.Get("description").String()})
		}
		list = append(list, c)
	}
	return list
}

// Pick returns the answer to c that chooses the options with these numbers, from 1.
func (c Choice) Pick(numbers ...int) (string, error) {
	var labels []string
	for _, n := range numbers {
		if n < 1 || n > len(c.Options) {
			return "", fmt.Errorf("%q has no option %d: there are %d", c.Question, n, len(c.Options))
		}
		if label := c.Options[n-1].Label; !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if len(labels) > 1 && !c.Several {
		return "", fmt.Errorf("%q takes one option", c.Question)
	}
	return strings.Join(labels, ", "), nil // joined as by the client itself
}

// Read returns the answer to c that a user typed: numbers of options between blanks or commas,
// or else the text itself, such as a year. It fails on a number up to 9 that no option has.
func (c Choice) Read(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	var numbers []int
	for _, part := range strings.FieldsFunc(typed, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > max(9, len(c.Options)) {
			return typed, nil
		}
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		return "", fmt.Errorf("%q has no answer", c.Question)
	}
	return c.Pick(numbers...)
}

// Word is the verdict of an answer.
type Word string

// The words of answers; Kind says which request takes which.
const (
	Allow Word = "allow"
	Deny  Word = "deny"
	Say   Word = "say"
)

// From is where an answer was given.
type From string

// The places where answers are given.
const (
	Terminal From = "terminal" // a command
	Watch    From = "watch"
	Page     From = "page"    // a browser on this machine
	Remote   From = "remote"  // a browser elsewhere
	Desktop  From = "desktop" // a notification's button
	Phone    From = "phone"
)

// Answer is the user's answer to a request.
type Answer struct {
	Request string `json:"offer"`
	Digest  string `json:"digest"` // of the request that the user was shown
	Word    Word   `json:"word"`
	// Message goes to the agent: with Deny the reason, with Say the whole text.
	Message string `json:"message,omitempty"`
	// Always is the number, from 1, of the suggestion to send along with Allow.
	Always int `json:"always,omitempty"`
	// Choices are the answers, by the question's text: options, or the user's own words.
	Choices map[string]string `json:"choices,omitempty"`
	From    From              `json:"from"`
	By      string            `json:"by,omitempty"` // who answered, for people to read
	At      event.Millis      `json:"at"`
	// Signature is the user's, if they have a PIN (package pin).
	Signature []byte `json:"signature,omitempty"`
}

// maxMessage bounds a Message, in bytes.
const maxMessage = 64 << 10

// Errors of Give, besides TakenError.
var (
	ErrNone    = errors.New("no such request")
	ErrOver    = errors.New("the request is over")
	ErrExpired = errors.New("the request has expired")
	ErrChanged = errors.New("this is not the request that was shown")
	ErrAlways  = errors.New("allowing always is possible on this machine only")
	// ErrPIN is returned by programs that sign answers, not by Give.
	ErrPIN = errors.New("answering takes your PIN")
)

// overError is ErrOver with the reason.
type overError string

func (e overError) Error() string     { return string(e) }
func (e overError) Is(err error) bool { return err == ErrOver }

// Late reports whether err means that another answer was first, or that the call is over.
func Late(err error) bool {
	return errors.As(err, new(*TakenError)) || errors.Is(err, ErrOver) || errors.Is(err, ErrExpired)
}

// TakenError says who answered before.
type TakenError struct{ By Answer }

func (e *TakenError) Error() string {
	return fmt.Sprintf("answered already: %s, by %s from %s", e.By.Word, cmp.Or(e.By.By, "somebody"), e.By.From)
}

// answers are the words that each kind takes, and what they did. Kinds of other versions take none.
var answers = map[Kind]map[Word]string{
	Permission: {Allow: "allowed", Deny: "refused"},
	Question:   {Allow: "answered", Deny: "refused"},
	Plan:       {Allow: "approved", Deny: "sent back"},
	Reply:      {Say: "sent"},
}

// Fits returns what is wrong with a as an answer to o; nil if it is valid.
func (r *Request) Fits(a Answer) error {
	choices := r.Choices()
	switch {
	case a.Request != r.ID || a.Digest != r.Digest:
		return ErrChanged
	case answers[r.Kind][a.Word] == "":
		return fmt.Errorf("%q is not an answer to a %s", a.Word, r.Kind)
	case a.Always != 0 && !slices.Contains([]From{Terminal, Watch, Page, Desktop}, a.From):
		return ErrAlways
	case a.Always != 0 && (a.Word != Allow || a.Always < 1 || a.Always > len(r.Suggestions())):
		return fmt.Errorf("the client suggests no rule %d here", a.Always)
	case a.Word == Say, len(a.Message) > maxMessage:
		return CheckMessage(a.Message)
	case a.Word == Deny:
		return nil
	case r.Kind == Question && len(a.Choices) != len(choices):
		return fmt.Errorf("there are %d questions, and %d answers", len(choices), len(a.Choices))
	}
	for _, c := range choices {
		if strings.TrimSpace(a.Choices[c.Question]) == "" {
			return fmt.Errorf("%q has no answer", c.Question)
		}
	}
	return nil
}

// Outcome is what became of a request.
type Outcome struct {
	// Taken is set if the client was given the answer.
	Taken bool         `json:"taken,omitempty"`
	Why   string       `json:"why,omitempty"` // in words, if it was not taken
	At    event.Millis `json:"at"`
	// Answer is the one that was given, without its words; its Word is empty if there was none.
	Answer Answer `json:"answered"`
}

// PINFile keeps the public half of the key that the user's PIN makes (package pin).
func (d Dir) PINFile() string { return filepath.Join(string(d), "pin.json") }

// PIN is the content of PINFile.
type PIN struct {
	Salt   []byte `json:"salt"`
	Public []byte `json:"public"` // verifies what the PIN's key signs
}

// PINSalt is how many bytes a salt has.
const PINSalt = 16

// HasPIN reports whether answers must be signed with the user's PIN, or that cannot be told.
func (d Dir) HasPIN() bool {
	_, err := os.Lstat(d.PINFile())
	return !errors.Is(err, fs.ErrNotExist)
}

// ReadPIN reads PINFile.
func (d Dir) ReadPIN() (p PIN, err error) {
	b, err := plainfile.ReadFile(d.PINFile())
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err == nil && (len(p.Public) != ed25519.PublicKeySize || len(p.Salt) != PINSalt) {
		err = errors.New("it is damaged")
	}
	if err != nil {
		return p, fmt.Errorf("reading %s: %w", d.PINFile(), err)
	}
	return p, nil
}

// Key signs answers with the user's PIN.
type Key ed25519.PrivateKey

// Unlock returns the key of the user's PIN. It is called only if they have one.
type Unlock func() (Key, error)

// NoPIN is the Unlock of a program that cannot ask for the PIN.
func NoPIN() (Key, error) { return nil, ErrPIN }

// Sign signs an answer to the request that the user was shown.
func (k Key) Sign(shown *Request, a *Answer) {
	a.Signature = ed25519.Sign(ed25519.PrivateKey(k), a.signed(shown))
}

// Verify returns an error if the user has a PIN and has not signed this answer to this request.
func (d Dir) Verify(r *Request, a *Answer) error {
	if !d.HasPIN() {
		return nil
	}
	p, err := d.ReadPIN()
	if err == nil && !ed25519.Verify(p.Public, a.signed(r), a.Signature) {
		err = errors.New("it is not signed with the user's PIN")
	}
	return err
}

// signed returns what is signed of an answer: all but the time, which is set when it is given;
// and with it all that the user was shown of the request. It is the same before and after the
// answer was written as JSON, where bytes that are no text are replaced.
func (a Answer) signed(r *Request) []byte {
	a.At, a.Signature = 0, nil
	b, _ := json.Marshal(a)
	var read Answer
	_ = json.Unmarshal(b, &read)
	b, _ = json.Marshal(read)
	return append([]byte("beckon answer "+r.Digest+"\n"), b...)
}
