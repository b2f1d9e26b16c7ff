/** A page of the dashboard, and how to tell that it can be used. */
export interface DashboardPage {
  readonly slug: string;
  readonly name: string;
  /** The first real control, there once the data is. */
  readonly control: string;
  /** What is there once a click on it was answered. */
  readonly answer: string;
}

/** All pages; no click changes a setting but that on a switch of Site Security. */
export const dashboardPages: readonly DashboardPage[] = [
  {
    slug: 'security-optimizer',
    name: 'Security Dashboard',
    control: '.so-hero__head .so-btn',
    answer: '.so-dialog',
  },
  { slug: 'login-settings', name: 'Login Security', control: '.so-row__ctl .so-btn', answer: '.so-dialog' },
  {
    slug: 'site-security',
    name: 'Site Security',
    control: '[role="switch"]',
    // A quick server has answered before the next frame is drawn.
    answer: '[role="switch"][aria-busy], .so-toast',
  },
  { slug: 'activity-log', name: 'Activity Log', control: 'tbody .so-iconbtn', answer: '.so-menu' },
  { slug: 'post-hack-actions', name: 'Post-hack Actions', control: '.so-row__ctl .so-btn', answer: '.so-dialog' },
];
