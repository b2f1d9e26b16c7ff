import { toLogHref } from '@security-optimizer/contract/activity/log-address';
import { remindTwoFactor, sendLoginUrl } from '@security-optimizer/contract/login/endpoints';
import { type ApiCall, toCall } from '../../api/client.js';
import { useSite } from '../../api/site-context.js';
import { useSubmit } from '../../forms/use-submit.js';
import { __, _n, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { CopyValue } from '../../ui/copy.js';
import { Icon } from '../../ui/icon.js';
import { Meter } from '../../ui/meter.js';
import { setUpText } from '../settings/essentials.js';
import type { LoginSettings } from '../settings/settings-query.js';
import { isSiteUrl } from './two-factor-setup.js';

/** The custom login URL, with Copy and a mail to the team. */
export function LoginAddress({ settings }: { readonly settings: LoginSettings }) {
  const { config } = useSite();
  const path = settings.login_url?.find(({ type }) => type === 'custom')?.login ?? '';
  const url = config.homeUrl.replace(/\/*$/, '/') + path;
  const size = settings.team_size ?? 0;
  return (
    <>
      <CopyValue text={url.replace(/^https?:\/\//, '')} copied={url} label={__('Login URL', 'security-optimizer')} />
      {size === 0 ? null : (
        <>
          <MailLink call={toCall(sendLoginUrl, {})} text={__('Send to my team', 'security-optimizer')} />
          <span>
            {/* translators: %d: number of people */}
            {sprintf(_n('goes to %d person', 'goes to %d people', size, 'security-optimizer'), size)}
          </span>
        </>
      )}
    </>
  );
}

/** Number of locked out addresses, with a link to their list. */
export function LockedNow({ count }: { readonly count: number }) {
  const { config } = useSite();
  const text = sprintf(
    /* translators: %d: number of addresses */
    _n('%d address is locked now', '%d addresses are locked now', count, 'security-optimizer'),
    count,
  );
  return (
    <span>
      <Icon name="lock" />
      {config.logPageUrl === '' ? (
        text
      ) : (
        <a className="so-link" href={toLogHref(config.logPageUrl, { tab: 'blocked' })}>
          {text}
        </a>
      )}
    </span>
  );
}

/** Maximum number of segments of the meter. */
const METER_MAX = 10;
/** Maximum number of names in a list. */
const NAMES_MAX = 5;

/** Users who have set up two-factor authentication and who have not, with reminders. */
export function TwoFactorValue({ settings }: { readonly settings: LoginSettings }) {
  const { config, navigate } = useSite();
  const list = settings.two_factor_users;
  if (!list || list.total === 0) return null;
  const { total, set_up, users } = list;
  const done = users.filter((user) => user.set_up === 1);
  const missing = users.filter((user) => user.set_up === 0);
  const others = missing.filter(({ you }) => you === 0).length;
  const setUpUrl = settings.two_factor_setup_url ?? '';
  const steps = Math.min(total, METER_MAX);
  const complete = set_up >= total;

  return (
    <>
      <Meter
        on={complete ? steps : Math.min(steps - 1, Math.round((set_up / total) * steps))}
        total={steps}
        warn={!complete}
        label={<b>{setUpText(settings)}</b>}
      />
      {complete ? null : (
        <>
          <span>
            {done.length === 0 || done.length > NAMES_MAX ? null : `${doneText(done)} `}
            {/* translators: %s: usernames */}
            {sprintf(__('Missing: %s.', 'security-optimizer'), toNames(missing, total - set_up))}
          </span>
          {missing.length > others && isSiteUrl(setUpUrl, config.homeUrl) ? (
            <Button small onClick={() => navigate(setUpUrl)}>
              {__('Set up now', 'security-optimizer')}
            </Button>
          ) : null}
          {others === 0 ? null : (
            <MailLink
              call={toCall(remindTwoFactor, {})}
              text={
                missing.length > others
                  ? sprintf(
                      /* translators: %d: number of people beside the reader */
                      _n('Remind the other %d', 'Remind the other %d', others, 'security-optimizer'),
                      others,
                    )
                  : /* translators: %d: number of people */
                    sprintf(_n('Remind %d person', 'Remind %d people', others, 'security-optimizer'), others)
              }
            />
          )}
        </>
      )}
    </>
  );
}

type ListedUsers = readonly { readonly user_login: string; readonly you: 0 | 1 }[];

/** The reader is not in the list of names: "you" takes another form of the verb. */
function doneText(done: ListedUsers): string {
  const others = done.filter(({ you }) => you === 0);
  const count = others.length;
  if (count === 0) return __('You are set up.', 'security-optimizer');
  return sprintf(
    count === done.length
      ? /* translators: %s: usernames */
        _n('%s is set up.', '%s are set up.', count, 'security-optimizer')
      : /* translators: %s: usernames of others */
        _n('You are set up, and so is %s.', 'You are set up, and so are %s.', count, 'security-optimizer'),
    toNames(others),
  );
}

/** Lists users, with "you" for the reader, and the number of others. */
function toNames(users: ListedUsers, count: number = users.length): string {
  const shown = users.slice(0, NAMES_MAX);
  const names = shown.map(({ user_login, you }) => (you === 1 ? __('you', 'security-optimizer') : user_login));
  const more = count - shown.length;
  /* translators: %d: number of people */
  if (more > 0) names.push(sprintf(_n('%d more', '%d more', more, 'security-optimizer'), more));
  return names.join(', ');
}

/** A button for sending mails. It is disabled while they are sent. */
function MailLink(props: { readonly call: ApiCall; readonly text: string }) {
  const { pending: sending, save } = useSubmit();
  return (
    <button
      type="button"
      className="so-link"
      aria-disabled={sending || undefined}
      onClick={() => save({ call: props.call })}
    >
      {sending ? __('Sending…', 'security-optimizer') : props.text}
    </button>
  );
}
