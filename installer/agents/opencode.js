// Tells beckon what this OpenCode does. `beckon setup opencode` made it, `beckon setup --undo opencode` takes it away.
import { spawn } from "node:child_process"

const hook = "@PROGRAM@"
const answers = false

// One state for the whole process: OpenCode may load this file more than once.
const key = Symbol.for("beckon")
const here = (globalThis[key] ??= {
  last: Promise.resolve(), // the newest event on its way: they arrive in order
  known: new Map(), // sessions: what is told of each
  calls: new Map(), // permission requests: the call that each is about
  users: new Set(), // messages that the user wrote
  told: new Set(), // events, so that none is told twice
  held: new Map(), // permission requests: the hook that waits for an answer
  made: new WeakSet(), // what OpenCode made for the hooks of one call
})

const once = (id) => {
  if (!id) return true
  if (here.told.has(id)) return false
  if (here.told.size > 1000) here.told.clear()
  here.told.add(id)
  return true
}

// first says whether a call is met for the first time. Ids do not tell: a provider may
// count them from 0 in every turn, and each call is to be asked about.
const first = (made) => {
  if (!made || typeof made !== "object") return true
  if (here.made.has(made)) return false
  here.made.add(made)
  return true
}

// patience is how long a hook may take: one that answers may ask a server.
const patience = (type) => (type.startsWith("tool.execute.") || type === "permission.asked" ? 60000 : 3000)

const parse = (line) => {
  try {
    const v = JSON.parse(line)
    return v && typeof v === "object" ? v : {}
  } catch {
    return {}
  }
}

// run starts one hook and waits for it; what it answers is {} for nothing. With
// held, the hook may go on for as long as its dialog is open: its answer then comes
// to held.later. Nothing it does stops OpenCode.
const run = (type, properties, held) =>
  new Promise((done) => {
    try {
      const child = spawn(hook, [type, "--agent", "opencode", ...(held ? ["--answers"] : [])], { stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => done({}), patience(type))
      let said = ""
      let waits = false
      child.stdout.on("data", (text) => {
        said += text
        if (!waits && held && said.includes("\n") && parse(said.slice(0, said.indexOf("\n"))).held) {
          waits = true
          said = said.slice(said.indexOf("\n") + 1)
          clearTimeout(timer)
          held.begins(child)
          done({})
        }
      })
      const end = () => {
        clearTimeout(timer)
        if (waits) held.later(parse(said))
        done(parse(said))
      }
      child.on("error", end)
      child.on("close", end)
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify({ type, properties }))
    } catch {
      done({})
    }
  })

const cut = (text) => (text.length > 4000 ? text.slice(-4000) : text)

export const Beckon = async ({ directory, client }) => {
  // session is what is known of a session; the first sight of it is told.
  const session = (id, info) => {
    let s = here.known.get(id)
    if (s) return s
    s = { text: "", busy: false }
    here.known.set(id, s)
    here.last = here.last.then(async () => {
      if (!info) {
        const asked = client?.session?.get({ path: { id } }).catch(() => undefined)
        info = (await Promise.race([asked, new Promise((r) => setTimeout(r, 500))]))?.data
      }
      const parent = info?.parentID
      s.parent = (parent && here.known.get(parent)?.parent) || parent
      await run("session.created", { sessionID: id, parentID: s.parent, directory: info?.directory ?? directory, info: { id, agent: info?.agent } })
    })
    return s
  }

  // tell sends what happened in a session. here.last is then what it is answered.
  const tell = (type, id, more, held) => {
    const s = session(id)
    here.last = here.last.then(() => run(type, { sessionID: id, parentID: s.parent, directory, ...more }, held))
    return s
  }

  const ask = (type, id, more) => (tell(type, id, more), here.last)

  // reply answers a permission request, if there is an answer.
  const reply = async (p, answer) => {
    if (answer.reply !== "once" && answer.reply !== "reject") return
    const body = { reply: answer.reply, message: typeof answer.message === "string" ? answer.message : undefined }
    const sent = await client?._client?.post({ url: "/permission/{requestID}/reply", path: { requestID: p.id }, body, headers: { "Content-Type": "application/json" } }).catch(() => undefined)
    if (sent?.error || !sent) await client?.postSessionIdPermissionsPermissionId({ path: { id: p.sessionID, permissionID: p.id }, body: { response: answer.reply } }).catch(() => undefined)
  }

  const handlers = {
    "session.created": (p) => session(p.info?.id ?? p.sessionID, p.info),
    "session.deleted": (p) => {
      const id = p.info?.id ?? p.sessionID
      tell("session.deleted", id, { info: { id } })
      here.known.delete(id)
    },
    "session.status": (p) => {
      const word = p.status?.type
      const s = session(p.sessionID)
      if (word === "retry" || (word === "busy" && !s.busy)) tell("session.status." + word, p.sessionID)
      if (word === "busy") s.busy = true
    },
    "session.idle": (p) => {
      const s = session(p.sessionID)
      tell("session.idle", p.sessionID, { text: cut(s.text) || undefined })
      s.text = ""
      s.busy = false
    },
    "session.error": (p) => p.sessionID && (tell("session.error", p.sessionID, { error: p.error }).text = ""),
    "session.compacted": (p) => tell("session.compacted", p.sessionID),
    "permission.asked": (p) => {
      here.calls.set(p.id, p.tool?.callID)
      const held = answers && { begins: (child) => here.held.set(p.id, child), later: (answer) => here.held.delete(p.id) && reply(p, answer) }
      tell("permission.asked", p.sessionID, { id: p.id, permission: p.permission, patterns: p.patterns, metadata: p.metadata, tool: p.tool }, held)
      here.last.then((answer) => reply(p, answer))
    },
    "permission.replied": (p) => {
      const waits = here.held.get(p.requestID)
      here.held.delete(p.requestID)
      waits?.kill()
      tell("permission.replied", p.sessionID, { requestID: p.requestID, reply: p.reply, callID: here.calls.get(p.requestID) })
      here.calls.delete(p.requestID)
    },
    "question.asked": (p) => tell("question.asked", p.sessionID, { id: p.id, questions: p.questions }),
    "question.replied": (p) => tell("question.replied", p.sessionID, { requestID: p.requestID }),
    "question.rejected": (p) => tell("question.rejected", p.sessionID, { requestID: p.requestID }),
    "message.updated": (p) => {
      if (p.info?.role !== "user") return
      if (here.users.size > 1000) here.users.clear()
      here.users.add(p.info.id)
    },
    "message.part.updated": (p) => {
      const part = p.part
      if (part?.type === "text" && part.text && !here.users.has(part.messageID)) session(part.sessionID).text = part.text
    },
  }

  return {
    event: async ({ event }) => {
      const handle = handlers[event.type]
      if (handle && once(event.id)) handle(event.properties ?? {})
    },
    "chat.message": async (input, output) => {
      const id = output?.message?.id ?? input.messageID
      if (!once(id && "chat " + id)) return
      if (id) here.users.add(id)
      const prompt = (output?.parts ?? []).filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n")
      const s = tell("chat.message", input.sessionID, { prompt: prompt.slice(0, 4000) })
      s.busy = true
      s.text = ""
    },
    "tool.execute.before": async (input, output) => {
      if (!first(output)) return
      const answer = await ask("tool.execute.before", input.sessionID, { tool: input.tool, callID: input.callID, args: output?.args })
      if (typeof answer.deny === "string") throw new Error(answer.deny)
      if (!answer.args || typeof answer.args !== "object" || !output?.args) return
      for (const name of Object.keys(output.args)) delete output.args[name]
      Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      if (!first(output)) return
      const answer = await ask("tool.execute.after", input.sessionID, { tool: input.tool, callID: input.callID, args: input.args })
      if (typeof answer.context === "string" && typeof output?.output === "string") output.output += "\n\n" + answer.context
    },
    "experimental.session.compacting": async (input) => {
      tell("experimental.session.compacting", input.sessionID)
    },
    dispose: async () => {
      for (const child of here.held.values()) child.kill()
      for (const id of here.known.keys()) tell("server.instance.disposed", id)
      here.known.clear()
      await here.last
    },
  }
}
