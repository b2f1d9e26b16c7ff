const LIST = '.so-table:not(.so-table--sk)';
const EMPTY = '.so-empty';

/** Pages and tabs, and what is there once they have loaded. */
export const PLACES = [
  ['security-optimizer', `.so-recent ${LIST}, .so-recent ${EMPTY}`],
  ['site-security', '[role="switch"]'],
  ['login-settings', '.so-row__ctl .so-btn'],
  ['activity-log', `${LIST}, ${EMPTY}`],
  ['activity-log#registered', `${LIST}, ${EMPTY}`],
  ['activity-log#blocked', `${LIST}, ${EMPTY}`],
  ['activity-log#weekly-reports', '.so-addmail .so-btn'],
  ['activity-log#log-settings', '.so-row__ctl .so-select'],
  ['post-hack-actions', '.so-row__ctl .so-btn'],
] as const;
