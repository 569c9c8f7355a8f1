// node -r port.js: whatever the program says, it listens on $PORT, loopback.
const { Server } = require('net');
const { listen } = Server.prototype;
Server.prototype.listen = function () {
  return listen.call(this, Number(process.env.PORT), '127.0.0.1');
};
