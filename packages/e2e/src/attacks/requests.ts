import type { TypedRequest } from '../http/request.js';

/** Status of a response that says nothing about the resource, because the address is limited. */
export const LIMITED_STATUS = 429;

/** An XML-RPC call that checks a password and lists the blogs of the user. */
export function usersBlogs(login: string, password: string): TypedRequest {
  const param = (text: string) => `<param>${string(text)}</param>`;
  return xml(
    `<methodCall><methodName>wp.getUsersBlogs</methodName><params>${param(login)}${param(password)}</params></methodCall>`,
  );
}

/** One request of XML-RPC with many guesses in it. */
export function multicall(login: string, passwords: readonly string[]): TypedRequest {
  const call = (password: string) =>
    `<value><struct><member><name>methodName</name>${string('wp.getUsersBlogs')}</member><member><name>params</name><value><array><data>${string(login)}${string(password)}</data></array></value></member></struct></value>`;
  return xml(
    `<methodCall><methodName>system.multicall</methodName><params><param><value><array><data>${passwords.map(call).join('')}</data></array></value></param></params></methodCall>`,
  );
}

/** REST with a name and a password, as programs send them; application passwords come the same way. */
export function restBasic(login: string, password: string): TypedRequest {
  const credentials = Buffer.from(`${login}:${password}`).toString('base64');
  return { target: '/wp-json/wp/v2/users/me', headers: { authorization: `Basic ${credentials}` } };
}

function xml(body: string): TypedRequest {
  return {
    method: 'POST',
    target: '/xmlrpc.php',
    body: `<?xml version="1.0"?>${body}`,
    headers: { 'content-type': 'text/xml' },
  };
}

function string(text: string): string {
  return `<value><string>${text}</string></value>`;
}
