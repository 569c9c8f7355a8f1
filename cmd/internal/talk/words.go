package talk

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/render/card"
	"beckon/state/request"
)

// isAnswer reports whether a word can only be an answer, not a session: a word that answers, or
// numbers of options. More digits than one may be the beginning of a session's id.
func isAnswer(word string) bool {
	switch word {
	case "yes", "no", "always", "y", "n":
		return true
	}
	for part := range strings.SplitSeq(word, ",") {
		if len(part) != 1 || part < "1" || part > "9" {
			return false
		}
	}
	return true
}

// answer turns words into an answer to a request.
func (c *AnswerCmd) answer(o *card.Request, words []string) (ans request.Answer, err error) {
	ans = request.Answer{Request: o.ID, Digest: o.Digest, Message: c.Message, From: request.Terminal}
	text := strings.Join(words, " ")
	switch word := strings.ToLower(words[0]); {
	case word == "no" || word == "n":
		ans.Word = request.Deny
		if len(words) > 1 {
			ans.Message = cmp.Or(c.Message, strings.Join(words[1:], " "))
		}
	case o.Kind == request.Question:
		ans.Word = request.Allow
		ans.Choices, err = choose(o.Choices(), words)
	case (word == "yes" || word == "y") && len(words) == 1:
		ans.Word = request.Allow
	case word == "always" && o.Kind == request.Permission:
		ans.Word, ans.Always = request.Allow, 1
		if len(words) == 2 {
			ans.Always, err = strconv.Atoi(words[1])
		}
	case o.Kind == request.Plan:
		ans.Word, ans.Message = request.Deny, text
	default:
		return ans, cli.Usage("%q: a permission takes yes, no or always; with no, --message tells the agent why", text)
	}
	if err == nil {
		err = o.Fits(ans)
	}
	if err != nil {
		return ans, cli.Usage("%w", err)
	}
	return ans, nil
}

// choose parses the answers to questions, one word for each.
func choose(questions []request.Choice, words []string) (map[string]string, error) {
	if len(questions) == 1 && len(words) > 1 {
		words = []string{strings.Join(words, " ")}
	}
	if len(words) != len(questions) {
		return nil, fmt.Errorf("there are %d questions: give as many answers, in quotes where they have blanks", len(questions))
	}
	out := map[string]string{}
	for i, q := range questions {
		text, err := q.Read(words[i])
		if err != nil {
			return nil, err
		}
		out[q.Question] = text
	}
	return out, nil
}
