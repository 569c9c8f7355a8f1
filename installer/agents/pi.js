// Tells beckon what this pi does. `beckon setup pi` made it, `beckon setup --undo pi` takes it away.
import { spawn } from "node:child_process"

const hook = "@PROGRAM@"

let last = Promise.resolve() // the newest event on its way: they arrive in order

const parse = (line) => {
  try {
    const v = JSON.parse(line)
    return v && typeof v === "object" ? v : {}
  } catch {
    return {}
  }
}

// run starts one hook and waits for it; what it answers is {} for nothing. Nothing it does stops pi.
const run = (payload) =>
  new Promise((done) => {
    try {
      const child = spawn(hook, [payload.hook_event_name, "--agent", "pi"], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => done({}), payload.tool_name ? 60000 : 3000) // a policy may ask a server about a call
      let said = ""
      child.stdout.on("data", (text) => (said += text))
      const end = () => {
        clearTimeout(timer)
        done(parse(said))
      }
      child.on("error", end)
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(payload))
    } catch {
      done({})
    }
  })

// tell sends an event of Claude Code's name; the result is its answer.
const tell = (hook_event_name, ctx, more) => {
  const s = ctx.sessionManager
  const payload = { hook_event_name, session_id: s.getSessionId(), transcript_path: s.getSessionFile(), cwd: ctx.cwd, ...more }
  last = last.then(() => run(payload))
  return last
}

// passing are the errors after which pi tries again.
const passing =
  /overloaded|provider.?returned|rate.?limit|too many requests|429|50[0234]|service.?unavailable|(server|internal|network|connection).?error|connection.?(refused|lost)|websocket|fetch failed|upstream|reset before|socket hang up|ended without|timed? out|timeout|terminated/i

const texts = (content) => (Array.isArray(content) ? content.filter((p) => p.type === "text").map((p) => p.text).join("\n") : "")

export default function (pi) {
  let failing // the timer of a failed request that pi may try again, after 2, 4 and 8 s
  let tries = 0
  const on = (name, handle) => pi.on(name, async (event, ctx) => handle(event, ctx))

  on("session_start", (e, ctx) => {
    if (e.reason !== "reload") tell("SessionStart", ctx, { source: { new: "clear", fork: "clear" }[e.reason] ?? e.reason, model: ctx.model?.id })
  })
  on("session_shutdown", (e, ctx) => (clearTimeout(failing), e.reason === "reload" ? last : tell("SessionEnd", ctx, { reason: e.reason === "new" ? "clear" : e.reason })))
  on("before_agent_start", (e, ctx) => {
    tell("UserPromptSubmit", ctx, { prompt: (e.prompt ?? "").slice(0, 4000) })
  })
  on("tool_call", async (e, ctx) => {
    const answer = await tell("PreToolUse", ctx, { tool_name: e.toolName, tool_use_id: e.toolCallId, tool_input: e.input })
    if (typeof answer.deny === "string") return { block: true, reason: answer.deny }
    if (!answer.args || typeof answer.args !== "object") return
    for (const name of Object.keys(e.input)) delete e.input[name]
    Object.assign(e.input, answer.args)
  })
  on("tool_result", async (e, ctx) => {
    const error = e.isError ? texts(e.content).slice(0, 1000) : undefined
    const call = { tool_name: e.toolName, tool_use_id: e.toolCallId, tool_input: e.input, error }
    const answer = await tell(error === undefined ? "PostToolUse" : "PostToolUseFailure", ctx, call)
    if (typeof answer.context === "string") return { content: [...(e.content ?? []), { type: "text", text: answer.context }] }
  })
  on("agent_end", (e, ctx) => {
    const m = (e.messages ?? []).findLast((m) => m.role === "assistant")
    if (m?.stopReason !== "error") {
      tries = 0
      if (m?.stopReason === "aborted") tell("Interrupt", ctx)
      else tell("Stop", ctx, { last_assistant_message: texts(m?.content).slice(-4000) })
      return
    }
    const error = (m.errorMessage ?? "").slice(0, 1000)
    const fail = () => {
      tries = 0
      tell("StopFailure", ctx, { error, error_details: error })
    }
    if (!passing.test(error) || tries === 3) return fail()
    failing = setTimeout(fail, 2000 * 2 ** tries++ + 1500)
    failing.unref?.()
  })
  on("agent_start", () => clearTimeout(failing))
  on("session_before_compact", (e, ctx) => {
    tell("PreCompact", ctx, { trigger: "manual" })
  })
  on("session_compact", (e, ctx) => {
    tell("PostCompact", ctx, { trigger: "manual" })
  })
}
