package access

import (
	"net/http"
	"slices"
	"strings"

	"beckon/render/web/peer"
	"beckon/render/web/respond"
	"beckon/state/evidence"
	"beckon/state/request"
)

// Answerer returns from where the sender of r answers, or why they may not. An agent must not
// answer itself: it has its user's files, so it could have a token. On this machine no program
// answers that an agent's client started. This does not stop a program of an agent that has
// detached from its parents, or that controls the user's own browser.
func (g *Guard) Answerer(r *http.Request) (request.From, error) {
	who := callerOf(r)
	if who.may&Answer == 0 {
		return "", errNoAnswer
	}
	var pids []int
	sure := false
	if c := connOf(r); c != nil {
		own := false
		if pids, sure, own = peer.Processes(c.raw); !own {
			return request.Remote, nil
		}
	}
	seen, browser := false, false
	for _, pid := range pids {
		within, name := evidence.FromClient(pid)
		if within {
			return "", respond.NewFault(http.StatusForbidden, "agents_program",
				"an agent's client started the program that asks, and an agent does not answer itself",
				"open the page in a browser that you started")
		}
		seen, browser = seen || name != "", browser || isBrowser(name)
	}
	switch {
	case !seen:
		return "", respond.NewFault(http.StatusForbidden, "unseen_program",
			"cannot tell which program sent this; it may be an agent's", "beckon answer does it in a terminal")
	case sure && browser && who.session != "" && OwnPeer(r):
		return request.Page, nil
	}
	return request.Remote, nil // a program, a tunnel or a proxy: it may come from anywhere
}

// browserNames are names, or prefixes of names, of browsers' processes.
var browserNames = strings.Split("chrom,google chrome,headless_shell,firefox,geckomain,socket process,safari,"+
	"com.apple.webki,webkit,msedge,microsoft edge,brave,vivaldi,opera,librewolf,waterfox,floorp,zen,"+
	"qtwebengine,epiphany,arc,orion", ",")

func isBrowser(name string) bool {
	return slices.ContainsFunc(browserNames, func(b string) bool { return strings.HasPrefix(strings.ToLower(name), b) })
}
