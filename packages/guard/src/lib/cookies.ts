/**
 * Values of the cookies of this name, in the order in which the browser sends them: those of longer paths first.
 * (RFC 6265 sections 4.2 and 5.4)
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  if (header === undefined || !header.includes(name)) return [];
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) values.push(pair.slice(equals + 1).trim());
  }
  return values;
}

/** A `Set-Cookie` value that scripts can't read and other sites' forms don't send. @param maxAge seconds; 0 deletes */
export function writeCookie(cookie: {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  readonly maxAge: number;
  readonly secure: boolean;
}): string {
  const { name, value, path, maxAge, secure } = cookie;
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
