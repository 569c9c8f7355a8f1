package fleets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/render/fleet"
	"beckon/testdata/natstest"
)

// A token's holder connects to the server that gave it, and to no other of that name: not even to
// one that shows that server's certificate behind its own.
func TestPinnedServer(t *testing.T) {
	address := natstest.Address(t)
	make := func() *hub {
		h, err := makeHub(t.TempDir(), address, "127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	read := func(h *hub) string {
		cert, err := os.ReadFile(filepath.Join(h.dir, certFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(cert)
	}
	right, wrong := make(), make()
	acc, _, err := invite(right.dir, fleet.Credential{User: "ann", View: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := invite(wrong.dir, fleet.Credential{User: "ann", View: true}); err != nil { // it asks for keys
		t.Fatal(err)
	}
	s := natstest.Serve(t, right.Path(configFile), address)
	nc, err := fleet.DialOnce(acc)
	if err != nil {
		t.Fatalf("the server that gave the token: %v", err)
	}
	nc.Close()
	s.Kill()
	for _, chain := range []string{read(wrong), read(wrong) + read(right)} {
		if err := os.WriteFile(wrong.Path(certFile), []byte(chain), 0o600); err != nil {
			t.Fatal(err)
		}
		s := natstest.Serve(t, wrong.Path(configFile), address)
		if nc, err := fleet.DialOnce(acc); err == nil || !strings.Contains(err.Error(), "it is not the hub") {
			t.Errorf("another server of that name: %v, %v", nc, err)
		}
		s.Kill()
	}
}
