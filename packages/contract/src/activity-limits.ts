/** Limits of the Activity Log that both sides use. Sources: specification sections 3 and 9, API clarifications. */

/** Days that the log may keep (specification section 9). */
export const LOG_LIFETIMES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const;
export type LogLifetime = (typeof LOG_LIFETIMES)[number];
export const DEFAULT_LOG_LIFETIME: LogLifetime = 12;
/** With fewer days than this no weekly report is sent. */
export const WEEKLY_REPORT_MIN_DAYS = 8;

/** Rows of a page of a list, and of the limited view. */
export const PAGE_ROWS = 30;
export const LIMITED_ROWS = 5;
/** Most options of one filter in an answer; more are found by searching. */
export const FILTER_OPTIONS_MAX = 200;

/** Most recipients of the weekly report when the configuration says nothing else. */
export const DEFAULT_MAX_EMAILS = 5;

/** What an IP filter field accepts (specification section 5): hex digits, dot, hyphen, percent, slash, colon, asterisk. */
export const IP_FILTER_PATTERN = /^[0-9a-fA-F.\-%/:*]+$/;
