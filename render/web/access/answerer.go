package access

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"beckon/render/web/peer"
	"beckon/render/web/respond"
	"beckon/state/evidence"
	"beckon/state/offer"
)

// Answerer returns from where the sender of r answers, or why they may not. An agent must not
// answer itself: it has its user's files, so it could have the token. Only a browser that
// signed in can answer, and on this machine only one that no agent's client started. This does
// not stop a program of an agent that has detached from its parents, or that controls the
// user's own browser.
func (d *Door) Answerer(r *http.Request) (offer.From, error) {
	key, ok := bearer(r)
	if !ok || !d.keys.isSession(key, peerOf(r).Name, time.Now()) {
		return "", respond.NewFault(http.StatusForbidden, "no_browser_session", "only a browser that is signed in answers here", "beckon answer does it in a terminal")
	}
	conn := endOf(r).conn
	if conn != nil && !peer.Local(conn) {
		return offer.Remote, nil
	}
	var pids []int
	sure := false
	if conn != nil {
		pids, sure = peer.Processes(conn)
	}
	seen, browser := false, false
	for _, pid := range pids {
		within, name := evidence.FromClient(pid)
		if within {
			return "", respond.NewFault(http.StatusForbidden, "agents_program", "an agent's client started the program that asks, and an agent does not answer itself", "open the page in a browser that you started")
		}
		seen, browser = seen || name != "", browser || isBrowser(name)
	}
	switch {
	case !seen:
		return "", respond.NewFault(http.StatusForbidden, "unseen_program", "it cannot be seen which program asks, so it may be an agent's", "beckon answer does it in a terminal")
	case sure && browser && OwnPeer(r):
		return offer.Page, nil
	}
	return offer.Remote, nil // a tunnel or a proxy: it may come from anywhere
}

// browserNames are names, or prefixes of names, of browsers' processes.
var browserNames = []string{"chrom", "google chrome", "headless_shell", "firefox", "geckomain", "socket process", "safari", "com.apple.webki", "webkit", "msedge", "microsoft edge",
	"brave", "vivaldi", "opera", "librewolf", "waterfox", "floorp", "zen", "qtwebengine", "epiphany", "arc", "orion"}

func isBrowser(name string) bool {
	return slices.ContainsFunc(browserNames, func(b string) bool { return strings.HasPrefix(strings.ToLower(name), b) })
}
