package pin

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"os"
	"testing"

	"beckon/state/request"
)

func TestPIN(t *testing.T) {
	d := request.In(t.TempDir())
	r := &request.Request{ID: "ID", Digest: "d"}
	a := request.Answer{Request: "ID", Digest: "d", Word: request.Allow, Message: "a\xffb", By: "kim",
		Choices: map[string]string{"Which?": "<one>", "And?": "two"}, From: request.Terminal}
	if d.HasPIN() || d.Verify(r, &a) != nil {
		t.Error("there is a PIN before one is set")
	}
	if err := Set(d, "123"); err == nil {
		t.Error("a short PIN was set")
	}
	if err := Set(d, "4711"); err != nil || !d.HasPIN() {
		t.Fatal(err)
	}
	if info, err := os.Stat(d.PINFile()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := Unlock(d, "4712"); !errors.Is(err, ErrWrong) {
		t.Errorf("another PIN: %v", err)
	}
	b, err := os.ReadFile(d.PINFile())
	if err != nil {
		t.Fatal(err)
	}
	b = append(b[:len(b)-1], `,"n":65536,"r":8}`...) // as an earlier version wrote it
	if err := os.WriteFile(d.PINFile(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := Unlock(d, "4711")
	if err != nil {
		t.Fatal(err)
	}
	if d.Verify(r, &a) == nil {
		t.Error("an answer without a signature counts")
	}
	k.Sign(r, &a)
	a.Message, a.At = "a\ufffdb", 7 // as it is read from its file, with its time
	if err := d.Verify(r, &a); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*request.Answer){
		"request": func(a *request.Answer) { a.Request = "ID2" },
		"digest":  func(a *request.Answer) { a.Digest = "e" },
		"word":    func(a *request.Answer) { a.Word = request.Deny },
		"message": func(a *request.Answer) { a.Message = "x" },
		"always":  func(a *request.Answer) { a.Always = 1 },
		"choices": func(a *request.Answer) { a.Choices = map[string]string{"Which?": "two"} },
		"from":    func(a *request.Answer) { a.From = request.Page },
		"by":      func(a *request.Answer) { a.By = "eve" },
		"none":    func(a *request.Answer) { a.Signature = nil },
	} {
		b := a
		if change(&b); d.Verify(r, &b) == nil {
			t.Errorf("%s changed, and it counts", name)
		}
	}
	if d.Verify(&request.Request{ID: "ID", Digest: "other"}, &a) == nil {
		t.Error("the request changed, and it counts")
	}
	public := base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize))
	for _, damaged := range []string{"", "{}", `{"n":65536,"public":"` + public + `"}`} {
		if err := os.WriteFile(d.PINFile(), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if d.Verify(r, &a) == nil {
			t.Errorf("with the file %q anything counts", damaged)
		}
		if _, err := Unlock(d, "4711"); err == nil || errors.Is(err, ErrWrong) {
			t.Errorf("with the file %q: %v", damaged, err)
		}
	}
	if err := Set(d, ""); err != nil || d.HasPIN() || d.Verify(r, &request.Answer{}) != nil {
		t.Errorf("removed: %v", err)
	}
}
