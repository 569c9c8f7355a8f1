#!/usr/bin/env node
// A policy server for beckon (protocol 1.0). Node 14 or newer, no packages.
//
//     node policy.js [PORT]        8080 when left out, 0 for a free one
//
// In policy.json:
//
//     {"servers": [{"server_url": "http://127.0.0.1:8080/hook", "events": ["PreToolUse", "UserPromptSubmit"]}]}
'use strict';
const http = require('http');

const LARGEST = 16 << 20; // bytes of one event

const allow = () => ({ decision: 'allow' });

// The reason reaches the agent, or the user when a prompt is blocked.
const block = (reason) => ({ decision: 'block', reason });

// The user decides. Protocol 1.0 has no word for it, metadata has.
const ask = (reason) => ({ decision: 'allow', reason, metadata: { permission_decision: 'ask' } });

// Only the fields that change; null takes one out.
const modify = (toolInput) => ({ decision: 'modify', modified_data: { tool_input: toolInput } });

// Your policy. data is the client's whole payload for this event.
function decide(event, data) {
  if (event.type === 'UserPromptSubmit' && data.prompt.includes('PRIVATE KEY-----')) {
    return block('The prompt holds a private key.');
  }
  if (event.type !== 'PreToolUse' || data.tool_name !== 'Bash') {
    return allow();
  }
  const command = data.tool_input.command || '';
  if (/\brm\s+(-\w+\s+)*(\/|~|\$HOME)(\s|$)/.test(command)) {
    return block('That would delete everything.');
  }
  if (/\bgit push\b.*\s--force(\s|$)/.test(command)) {
    return modify({ command: command.replace(/--force(?=\s|$)/g, '--force-with-lease') });
  }
  if (/\bsudo\b/.test(command)) {
    return ask('This runs as root.');
  }
  return allow();
}

function respond(text) {
  try {
    const { version, event, data } = JSON.parse(text);
    if (version !== '1.0') {
      throw new Error('another protocol');
    }
    return [200, { version: '1.0', ...decide(event, data) }];
  } catch {
    return [400, { error: 'not a request of protocol 1.0' }];
  }
}

const server = http.createServer((request, response) => {
  const chunks = [];
  let size = 0;
  const answer = ([status, body]) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  request.on('error', () => {});
  request.on('data', (chunk) => {
    size += chunk.length;
    if (size > LARGEST) {
      request.destroy();
    }
    chunks.push(chunk);
  });
  request.on('end', () => {
    const ours = request.method === 'POST' && request.url === '/hook';
    answer(respond(ours ? Buffer.concat(chunks).toString() : ''));
  });
});

server.listen(Number(process.argv[2] || 8080), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/hook`);
});
