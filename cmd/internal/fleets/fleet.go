package fleets

import (
	"cmp"
	"fmt"
	"net"
	"slices"

	"beckon/cmd/internal/cli"
	"beckon/event/home"
	"beckon/event/typed"
	"beckon/render/fleet"
)

// Cmd is beckon fleet: the server's side of a fleet.
type Cmd struct {
	Init   initCmd   `cmd:"" help:"Write the configuration of the NATS server that a fleet meets at."`
	Invite inviteCmd `cmd:"" help:"Print a token that lets a machine publish its sessions, or see those of others."`
	Revoke revokeCmd `cmd:"" help:"End the access of a machine or user."`
	Link   LinkCmd   `cmd:"" help:"Publish this machine's sessions to a fleet, for the lists of other machines."`
}

// where is the flag that the server's subcommands have.
type where struct {
	Dir string `hidden:"" placeholder:"DIR" type:"path" help:"The server's directory (default: hub beside config.json)."`
}

func (w *where) dir(a *cli.App) string { return cmp.Or(w.Dir, home.Config(a.Getenv, "hub")) }

type initCmd struct {
	where
	Listen string   `name:"addr" aliases:"listen" default:"0.0.0.0:4222" placeholder:"HOST:PORT" help:"Address to listen on (default: ${default})."`
	Name   []string `placeholder:"NAME" help:"Names or addresses by which other machines reach it, separated by commas; tokens have the first."`
}

// Run implements the command.
func (c *initCmd) Run(a *cli.App) error {
	h, err := makeHub(c.dir(a), c.Listen, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "wrote %[1]s; start the server:\n  nats-server -c %[1]s\n"+
		"then invite machines: beckon fleet invite --name NAME\n", h.Path(configFile))
	return nil
}

type inviteCmd struct {
	where
	Host string `name:"name" aliases:"host" placeholder:"NAME" help:"Let a machine publish its sessions, under this name."`
	User string `hidden:"" placeholder:"USER" help:"Whose machine it is (default: you); a user's machines form one list."`
	View bool   `help:"Let it see the sessions of all the user's machines; for machines that people sit at."`
}

// Run implements the command.
func (c *inviteCmd) Run(a *cli.App) error {
	if c.Host == "" && !c.View {
		return cli.Usage("say what the token is for: --name NAME to publish, --view to see")
	}
	acc := fleet.Credential{User: cmp.Or(c.User, a.User()), Host: c.Host, View: c.View}
	if acc.User == "" {
		return cli.Usage("--user NAME: whose machine it is")
	}
	acc, h, err := invite(c.dir(a), acc)
	if err != nil {
		return err
	}
	if host, _, err := net.SplitHostPort(h.Listen); err == nil && h.Pin == "" {
		fmt.Fprintf(a.Stderr, "beckon: this server listens at %s only: the token works on this machine\n", host)
	}
	fmt.Fprintf(a.Stderr, "beckon: a running server takes it with: %s\n"+
		"beckon: whoever has this line has the access; on that machine: beckon fleet link --join TOKEN\n", h.Reload())
	fmt.Fprintln(a.Stdout, acc.Token())
	return nil
}

type revokeCmd struct {
	where
	Name string `arg:"" help:"The name of the machine; of a token without --name, the user."`
}

// Run implements the command.
func (c *revokeCmd) Run(a *cli.App) error {
	n := 0
	h, err := change(c.dir(a), func(h *hub) error {
		var names []string
		for _, m := range h.Members {
			names = append(names, m.Name())
		}
		h.Members = slices.DeleteFunc(h.Members, func(m member) bool { return m.Name() == c.Name })
		if n = len(names) - len(h.Members); n == 0 {
			return cli.Hint(typed.DidYouMean(c.Name, names), "%q has no access: none was given, or it is revoked", c.Name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "revoked %s (%d); a running server takes it with:\n  %s\n", c.Name, n, h.Reload())
	return nil
}
