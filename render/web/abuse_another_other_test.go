//go:build !linux

package web

const anotherEnv, anotherSays = "BECKON_WEB_TEST_ANOTHER", "another user: "

func (x *site) asAnother(string) map[string]string { return nil }
