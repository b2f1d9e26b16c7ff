import type { FakeConnector } from './fake-connector.js';

const COMMON = ['administrator', 'user1', 'admin', 'user'];

/** The fake connector's commands of docs/login-security.md. @returns null for any other */
export function runLoginCommand(
  fake: FakeConnector,
  command: string,
  body: Record<string, unknown>,
  cookie: string | undefined,
): object | null {
  switch (command) {
    case 'login-data': {
      const members = [...fake.members];
      return {
        users: members.map(([, { login }]) => login),
        matches: members
          .filter(([, { login, administrator }]) => administrator && COMMON.includes(login.toLowerCase()))
          .map(([ID, { login }]) => ({ ID, user_login: login })),
        registration: fake.registration,
        ...(fake.roles && { roles: fake.roles }),
        login_url: `${fake.home}/wp-login.php`,
        signup_url: `${fake.home}/wp-login.php?action=register`,
        factor_users: {
          total: members.length,
          users: members.map(([id, { login, administrator }]) => ({
            ...{ id, login, role: administrator ? 'administrator' : 'editor', sessions: 1 },
          })),
        },
        team: members.length,
      };
    }
    case 'team':
      return { users: [...fake.members].map(([id, { login }]) => ({ id, login, email: `${login}@example.com` })) };
    case 'login-reports': {
      const wanted = (body.requests as string[]).filter((id) => fake.checks.has(id));
      return { reports: Object.fromEntries(wanted.map((id) => [id, fake.checks.get(id)])) };
    }
    case 'path-in-use': {
      const by = fake.usedPaths.get(body.path as string);
      return by === undefined ? { used: false, by: null } : { used: true, by };
    }
    case 'rename-users': {
      const wanted = body.users as { ID: number; user_login: string }[];
      const taken = [...fake.hiddenNames, ...[...fake.members.values()].map(({ login }) => login.toLowerCase())];
      const faults = wanted.filter(({ user_login }) => taken.includes(user_login.toLowerCase()));
      if (faults.length > 0) {
        return { code: 'not_renamed', fields: Object.fromEntries(faults.map(({ ID }) => [ID, 'exists'])) };
      }
      for (const { ID, user_login } of wanted) Object.assign(fake.members.get(ID) ?? {}, { login: user_login });
      return { renamed: wanted.length };
    }
    case 'end-sessions':
      fake.endedSessions.push({ body, cookie });
      return { ended: 1 };
    case 'issue-session':
      fake.issued.push(body);
      return { redirect: `${fake.home}/wp-admin/` };
    case 'user': {
      const member = fake.members.get(body.user as number);
      return member
        ? {
            id: body.user,
            login: member.login,
            needs_factor: member.administrator,
            email: `${member.login}@example.com`,
          }
        : { id: 0 };
    }
    default:
      return null;
  }
}
