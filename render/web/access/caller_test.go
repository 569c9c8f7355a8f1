package access

import (
	"net/http"
	"strings"
	"testing"
)

// A wrong token opens nothing, even for a program that would need none.
func TestToken(t *testing.T) {
	x := serve(t, Options{Token: testToken})
	for i, auth := range []string{"Bearer " + wrongToken, "Bearer x", "Bearer " + testToken[1:], "Bearer " + testToken + "0", "Bearer " + strings.ToUpper(testToken)} {
		if r := x.Get("/api/sessions", "Authorization: "+auth); r.Status != http.StatusUnauthorized {
			t.Errorf("%d %s: %d", i, auth, r.Status)
		}
	}
	for _, path := range []string{"/api/sessions?token=" + testToken, "/?token=" + testToken, "/api/sessions#token=" + testToken} {
		if r := x.Get(path, browserAgent); r.Status == http.StatusOK {
			t.Errorf("the token in the address %s: %d", path, r.Status)
		}
	}
	if r := x.Get("/api/sessions", browserAgent, "Cookie: token="+testToken); r.Status != http.StatusUnauthorized {
		t.Errorf("the token is not a cookie: %d", r.Status)
	}
}
