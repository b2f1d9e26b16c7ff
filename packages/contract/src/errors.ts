/**
 * The error codes. Guard throws `ApiError(code)`; one place maps a code to status and text. Codes are an interface:
 * renaming one is a breaking change (see CHANGELOG.md). The first three are codes of WordPress, so that clients of its
 * REST API understand them.
 */
export const errorTable = {
  rest_cookie_invalid_nonce: { status: 403, message: 'Cookie check failed' },
  rest_forbidden: { status: 403, message: 'Sorry, you are not allowed to do that.' },
  rest_no_route: { status: 404, message: 'No route was found matching the URL and request method.' },
  bad_request: { status: 400, message: 'The request can’t be read. Nothing was changed.' },
  invalid_json: { status: 400, message: 'The request body is not valid JSON.' },
  invalid_input: { status: 400, message: 'Some of the values can’t be used. Nothing was saved.' },
  body_too_large: { status: 413, message: 'The request body is larger than 64 KB.' },
  cross_site: { status: 403, message: 'This request came from another site.' },
  not_found: { status: 404, message: 'Nothing was found' },
  must_not_be_blocked: { status: 400, message: 'This visitor must not be blocked.' },
  would_shut_you_out: {
    status: 409,
    message: 'Your own address is not in this list, so it would shut you out. Nothing was saved.',
  },
  means_everybody: { status: 409, message: 'This range means everybody. Nothing was saved.' },
  common_usernames_in_use: {
    status: 409,
    message: 'Some administrators have a common username. Choose new usernames for them first. Nothing was saved.',
  },
  away_mode_on: { status: 409, message: 'Away Mode is on. It can be changed when it has ended.' },
  away_starts_at_once: {
    status: 409,
    message: 'Away Mode would start at once, and nobody could log in, not even you. Nothing was saved.',
  },
  wordpress_unreachable: {
    status: 503,
    message: 'WordPress does not answer at the moment. Nothing was changed. Please try again in a minute.',
  },
  connector_missing: {
    status: 503,
    message:
      'The connector plugin does not answer inside WordPress. Nothing was changed. Ask your hosting provider to attach it again.',
  },
  connector_redirected: {
    status: 503,
    message:
      'The web server redirects our requests to WordPress. Nothing was changed. Ask your hosting provider to check how it redirects to https.',
  },
  connector_outdated: {
    status: 503,
    message:
      'The connector plugin inside WordPress is too old for this. Nothing was changed. Ask your hosting provider to attach the site again.',
  },
  connector_other_secret: {
    status: 503,
    message:
      'The connector plugin inside WordPress belongs to another installation. Nothing was changed. Ask your hosting provider to attach it again.',
  },
  storage_unavailable: {
    status: 503,
    message: 'The settings can’t be stored at the moment. Nothing was changed. Please try again in a minute.',
  },
  wordpress_busy: {
    status: 503,
    message: 'WordPress is busy at the moment. Nothing was changed. Please try again in a minute.',
  },
  too_many_calls: {
    status: 429,
    message: 'Too many calls come from your address at the moment. Nothing was changed. Please try again in a minute.',
  },
  provider_unreachable: {
    status: 502,
    message: 'Your provider’s address for this does not answer. Nothing was changed. Please try again later.',
  },
  checkup_running: { status: 409, message: 'A checkup is running. Try again when it has ended. Nothing was changed.' },
  not_removed: { status: 409, message: 'It could not be removed.' },
  not_restored: { status: 409, message: 'It could not be restored.' },
  mail_not_sent: { status: 502, message: 'The mail could not be sent.' },
  internal: { status: 500, message: 'Something went wrong on our side. Nothing was changed. Please try again later.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorTable;
