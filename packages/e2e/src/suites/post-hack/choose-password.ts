import type { RawAnswer } from '../../http/raw.js';
import { ask, form } from '../../http/request.js';
import type { Stack } from '../../stacks/stack.js';

/** Follows a link to choose a new password and types one. @param target path and query of the link */
export async function choosePassword(stack: Stack, target: string, password: string): Promise<RawAnswer> {
  const first = await ask(stack, { target });
  const cookie = /^set-cookie: (wp-resetpass-[^=]+=[^;]+)/im.exec(first.head)?.[1] ?? '';
  const page = await ask(stack, { target: '/wp-login.php?action=rp', headers: { cookie } });
  const key = /name="rp_key" value="([^"]*)"/.exec(page.body)?.[1] ?? '';
  const fields = new URLSearchParams({ pass1: password, pass2: password, rp_key: key, 'wp-submit': 'Save Password' });
  return ask(stack, form('/wp-login.php?action=resetpass', fields.toString(), { cookie }));
}
