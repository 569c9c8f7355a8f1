import { expect, test } from 'claude-code/testing'

// What beckon says of the other sessions, and which processes the mod has started.
let said: any
let runs: string[][]
let gone: boolean

function engine(on: any) {
  said = { schema: 1, band: true, watch: ['/state/needs'], sessions: [] }
  runs = []
  gone = false
  on('session.id', () => ({ value: 's1' }))
  on('process.run', (_: any, e: any) => {
    runs.push([...e.argv])
    return gone ? { deny: 'not there' } : { value: { exitCode: 0, stdout: JSON.stringify(said), stderr: '', isStdoutTruncated: false, isStderrTruncated: false } }
  })
  on('fs.stat', () => ({ value: { kind: 'file', size: 0, mtimeMs: 1, isLink: false } }))
  on('command.register', () => ({ value: { command: 'beckon' } }))
  on('clock.every', () => ({ deny: 'no clock here' }))
  on('session.start', (_: any, e: any) => ({ cwd: e.cwd }))
  on('turn.start', (_: any, e: any) => ({ turnId: e.turnId }))
  on('turn.complete', (_: any, e: any) => ({ text: e.answer }))
  on('classic.Stop', () => ({}))
  on('classic.StopFailure', () => ({}))
  on('classic.SessionStart', () => ({}))
}

// words are those that beckon-hook was told.
const words = () => runs.filter(argv => argv[1] === '--mod').map(argv => argv[2])

const settle = async () => {
  for (let i = 0; i < 50; i++) {
    await Promise.resolve()
    await new Promise<void>(done => done())
  }
}

const end = (reason: string, more = {}) => ({ answer: '', durationMs: 1, isAborted: reason === 'aborted', turnId: 't1', reason, ...more }) as any

const stop = { stop_hook_active: false, last_assistant_message: 'done' } as any

test('a turn that ends well is told by the hooks alone', async ($: any, on: any) => {
  engine(on)
  await $.turn.start({ text: 'x', turnId: 't1' })
  await $.classic.Stop(stop)
  await $.turn.complete(end('answer'))
  await settle()
  expect(words()).toEqual([])
})

test('an interrupted turn, a refusal and an error are told', async ($: any, on: any) => {
  engine(on)
  for (const [reason, word] of [['aborted', 'halt'], ['answer', 'halt'], ['error', 'failed']]) {
    runs = []
    await $.turn.start({ text: 'x', turnId: 't1' })
    await $.turn.complete(end(reason))
    await settle()
    expect(words()).toEqual([word])
  }
})

test('an agent of the session speaks for itself', async ($: any, on: any) => {
  engine(on)
  await $.turn.start({ text: 'x', turnId: 't2', agentId: 'a' })
  await $.turn.complete(end('aborted', { agentId: 'a', turnId: 't2' }))
  await settle()
  expect(words()).toEqual([])
})

test('nothing of the mod stands in the way when beckon is gone', async ($: any, on: any) => {
  engine(on)
  gone = true
  await $.session.start({ cwd: '/', surface: 'terminal', isInteractive: true })
  await $.turn.start({ text: 'x', turnId: 't1' })
  const out = await $.turn.complete(end('aborted', { answer: 'half' }))
  expect(out.text).toBe('half')
})

const BAND = {
  plugin: 'beckon',
  component: 'AbovePrompt',
  surface: 'terminal',
  requestId: 'above-prompt',
  props: { hasSurvey: false, isCollapsed: false, isWorking: false, maxRows: 5, bodyColumns: 80, scroll: { offset: 0, bodyRows: 5 }, view: {} },
} as any

test('the band names who needs you, and nobody else', async ($: any, on: any) => {
  engine(on)
  const minute = 60 * 1000
  said.sessions = [
    { id: 'a', name: 'shop\u001b[31m', state: 'permission', since: Date.now() - 2.5 * minute, what: 'Bash: ls', needs: true },
    { id: 'b', name: 'docs', state: 'question', since: Date.now(), what: 'which?', needs: true },
    { id: 'c', name: 'idle one', state: 'idle', since: Date.now(), what: '', needs: false },
  ]
  await $.session.start({ cwd: '/', surface: 'terminal', isInteractive: true })
  await settle()
  const ui = await $.ui.mount(BAND)
  const drawn = (await ui.find({ type: 'Box' }))?.text
  expect(drawn).toBe('shop [31m: permission 2m \u00b7 docs: question')
  await ui.unmount()
})

const PANE = {
  plugin: 'beckon',
  component: 'Pane',
  surface: 'terminal',
  requestId: 'beckon',
  props: { scroll: { offset: 0, bodyRows: 20 }, view: {} },
} as any

test('where no popup opens the pane gives the command to answer with, and answers nothing', async ($: any, on: any) => {
  engine(on)
  let copied = ''
  let copies = true
  on('ui.copy', (_: any, e: any) => {
    copied = e.text
    return { value: { isCopied: copies } }
  })
  said.sessions = [{ id: 'a', name: 'shop', state: 'permission', since: Date.now(), what: 'Bash: make', needs: true, offer: '7F3Q2' }]
  await $.session.start({ cwd: '/', surface: 'terminal', isInteractive: true })
  await settle()
  runs = []
  const ui = await $.ui.mount(PANE)
  expect(await ui.find({ type: 'Text', text: /shop asks: Bash: make/ })).toBeDefined()
  await ui.press({ key: 'yes' })
  await settle()
  expect(copied).toBe('beckon answer 7F3Q2 yes')
  expect(await ui.find({ type: 'Text', text: 'In a terminal of your own: beckon answer 7F3Q2 yes (copied)' })).toBeDefined()
  copies = false
  await ui.press({ key: 'no' })
  await settle()
  expect(await ui.find({ type: 'Text', text: 'In a terminal of your own: beckon answer 7F3Q2 no' })).toBeDefined()
  expect(runs).toEqual([])
  await ui.unmount()
})

test('where one opens it runs what asks the user, and nothing else answers', async ($: any, on: any) => {
  engine(on)
  on('ui.close', () => ({ value: { isClosed: true } }))
  said.sessions = [{ id: 'a', name: 'shop', state: 'permission', since: Date.now(), what: 'Bash: make', needs: true, offer: '7F3Q2', popup: ['tmux', 'display-popup', '-E'] }]
  await $.session.start({ cwd: '/', surface: 'terminal', isInteractive: true })
  await settle()
  runs = []
  const ui = await $.ui.mount(PANE)
  await ui.press({ key: 'yes' })
  await settle()
  expect(runs.length).toBe(1)
  expect(runs[0].slice(0, 3)).toEqual(['tmux', 'display-popup', '-E'])
  expect(runs[0][3]).toMatch(/^'.*beckon' answer 7F3Q2 yes$/)
  await ui.unmount()
})

test('Enter goes to the session, and says when nothing can', async ($: any, on: any) => {
  engine(on)
  const toasts: string[] = []
  on('ui.close', () => ({ value: { isClosed: true } }))
  on('ui.toast', (_: any, e: any) => {
    toasts.push(e.text ?? e)
    return { value: {} }
  })
  said.sessions = [{ id: 'a', name: 'shop', state: 'idle', since: Date.now(), what: '', needs: false }]
  await $.session.start({ cwd: '/', surface: 'terminal', isInteractive: true })
  await settle()
  runs = []
  const ui = await $.ui.mount(PANE)
  await ui.press({ key: 'go-a' })
  await settle()
  expect(runs.map(argv => argv.slice(1))).toEqual([['jump', '--quiet', 'a']])
  expect(toasts).toEqual([])
  gone = true
  await ui.press({ key: 'go-a' })
  await settle()
  expect(toasts).toEqual(['beckon cannot go there'])
  await ui.unmount()
})
