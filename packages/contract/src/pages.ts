/** Identifier with which wp-admin starts the client on one of the five pages. */
export type PageId = 'SECURITY_DASHBOARD' | 'LOGIN_SETTINGS' | 'SITE_SECURITY' | 'ACTIVITY_LOG' | 'POST_HACK_ACTIONS';

export interface PageText {
  readonly id: PageId;
  /** Slug in `admin.php?page=`. */
  readonly slug: string;
  /** Full title, exactly as in specification section 2. */
  readonly title: string;
  readonly intro: string;
  readonly icon: string;
}

/** The five pages in menu order. */
export const pages: readonly PageText[] = [
  {
    id: 'SECURITY_DASHBOARD',
    slug: 'security-optimizer',
    title: 'Security Optimizer',
    intro: 'See how safe this site is, what to do next and who has been visiting.',
    icon: 'shield-check',
  },
  {
    id: 'LOGIN_SETTINGS',
    slug: 'login-settings',
    title: 'Security Optimizer - Login Security',
    intro: 'Decide who may reach the login page and how they prove who they are.',
    icon: 'key',
  },
  {
    id: 'SITE_SECURITY',
    slug: 'site-security',
    title: 'Security Optimizer - Site Security',
    intro: 'Make the site harder to break into. Options tagged recommended are essential.',
    icon: 'site',
  },
  {
    id: 'ACTIVITY_LOG',
    slug: 'activity-log',
    title: 'Security Optimizer - Activity Log',
    intro: 'See who visits the site and who tries to log in. Block those you don’t trust.',
    icon: 'pulse',
  },
  {
    id: 'POST_HACK_ACTIONS',
    slug: 'post-hack-actions',
    title: 'Security Optimizer - Post-hack Actions',
    intro: 'Think someone broke in? Check the site, then take it back.',
    icon: 'lifebuoy',
  },
];
