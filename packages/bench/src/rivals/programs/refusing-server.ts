/** A rival: a minimal server on `node:http` that refuses every request. Argument: its port. */
import { createServer } from 'node:http';

const body = Buffer.from('Blocked\n');
const headers = ['Content-Type', 'text/plain; charset=utf-8', 'Content-Length', String(body.length)];

createServer((_request, response) => {
  response.writeHead(403, headers);
  response.end(body);
}).listen(Number(process.argv[2]), '127.0.0.1');
