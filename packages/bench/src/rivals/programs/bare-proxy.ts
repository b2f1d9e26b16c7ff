/** A rival: a minimal proxy on `node:http`. Arguments: its port, the upstream's port. */
import { Agent, createServer, request as send } from 'node:http';

const [port, upstream] = process.argv.slice(2).map(Number);
const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding']);

createServer((request, response) => {
  const onward = send(
    {
      agent,
      host: '127.0.0.1',
      port: upstream,
      method: request.method,
      path: request.url,
      headers: request.rawHeaders,
    },
    (answer) => {
      const headers: string[] = [];
      for (let i = 0; i < answer.rawHeaders.length; i += 2) {
        const name = answer.rawHeaders[i] as string;
        if (!HOP_BY_HOP.has(name.toLowerCase())) headers.push(name, answer.rawHeaders[i + 1] as string);
      }
      response.writeHead(answer.statusCode as number, headers);
      answer.pipe(response);
    },
  );
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}).listen(port, '127.0.0.1');
