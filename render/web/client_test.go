package web

import "beckon/testdata/webtest"

// Short names of what all tests use.
type (
	client   = webtest.Client
	response = webtest.Response
)

const (
	testToken    = webtest.Token
	wrongToken   = webtest.WrongToken
	browserAgent = webtest.BrowserAgent
	noKey        = webtest.NoKey
)

var (
	withKey    = webtest.WithKey
	needsPeers = webtest.NeedsPeers
)
