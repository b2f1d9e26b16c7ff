import type { RequestDetails } from '@security-optimizer/contract/activity/attackers';
import { __, translate } from '../../i18n/translate.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { goalText, triedText } from './reasons.js';

interface ResponseTexts {
  readonly state: 'bad' | 'warn' | 'plain';
  readonly icon: string;
  readonly title: string;
  readonly text: string;
}

/** What happened in one sentence, and why. */
export function ResponseSummary({ details }: { readonly details: RequestDetails }) {
  const { state, icon, title, text } = toResponseTexts(details);
  return (
    <div className={classes('so-answer', state !== 'bad' && `so-answer--${state}`)}>
      <Icon name={icon} />
      <div>
        <b>{title}</b>
        {text === '' ? null : <p>{text}</p>}
      </div>
    </div>
  );
}

function toResponseTexts(details: RequestDetails): ResponseTexts {
  const { rule, code, failed_login: isFailedLogin, goal, reason } = details;
  const goalSentence = goal === null ? '' : `${goalText(goal)}.`;
  if (rule !== null) {
    const [title, text] = refusal(rule, details.url) ?? [
      __('Refused.', 'security-optimizer'),
      reason === '' ? goalSentence : translate(reason),
    ];
    return { state: 'bad', icon: 'ban', title, text };
  }
  if (isFailedLogin === 1) {
    return {
      state: 'warn',
      icon: 'alert',
      title: __('Failed login: the password was not accepted.', 'security-optimizer'),
      text: details.tried === '' ? '' : `${triedText(details)}.`,
    };
  }
  if (code === 404) {
    return {
      state: 'warn',
      icon: 'alert',
      title: __('Not found: this page does not exist.', 'security-optimizer'),
      text: goalSentence,
    };
  }
  const title =
    code >= 400
      ? __('WordPress answered with an error.', 'security-optimizer')
      : code >= 300
        ? __('The visitor was sent to another address.', 'security-optimizer')
        : __('The page was shown.', 'security-optimizer');
  return { state: 'plain', icon: 'info', title, text: goalSentence };
}

/** Returns what a rule refused and why; null for an unknown rule. */
function refusal(rule: string, url: string): readonly [title: string, text: string] | null {
  switch (rule) {
    case 'login-limit':
      return [
        __('Refused: too many wrong passwords.', 'security-optimizer'),
        __('This address has to wait before it may try again.', 'security-optimizer'),
      ];
    case 'blocked-visitor':
      return [
        __('Refused: this visitor is blocked.', 'security-optimizer'),
        __('It can’t open any page of the site.', 'security-optimizer'),
      ];
    case 'login-access':
      return [
        __('Refused: this address may not log in.', 'security-optimizer'),
        __('It is not on the list of Login Access.', 'security-optimizer'),
      ];
    case 'away-mode':
      return [
        __('Refused: Away Mode is on.', 'security-optimizer'),
        __('Nobody can log in until it ends.', 'security-optimizer'),
      ];
    case 'xml-rpc':
      return [
        __('Refused: XML-RPC is off.', 'security-optimizer'),
        __('Programs guess passwords through this old interface.', 'security-optimizer'),
      ];
    case 'feeds':
      return [__('Refused: RSS and ATOM feeds are off.', 'security-optimizer'), ''];
    case 'file-editors':
      return [
        __('Refused: the themes and plugins editor is off.', 'security-optimizer'),
        __('Nobody can change code from the admin area.', 'security-optimizer'),
      ];
    case 'readme':
    case 'wordpress-version':
      return [
        __('Refused: the WordPress version is hidden.', 'security-optimizer'),
        __('Attackers look for it to choose a known hole.', 'security-optimizer'),
      ];
    case 'system-folders':
      return /\.ph[a-z0-9]*(?:[/?#]|$)/i.test(url)
        ? [
            __('Refused: scripts can’t run in this folder.', 'security-optimizer'),
            __('Folders for pictures and files never need to run a script.', 'security-optimizer'),
          ]
        : [
            __('Refused: this file is not for visitors.', 'security-optimizer'),
            __('It may hold passwords, settings or a copy of the database.', 'security-optimizer'),
          ];
    case 'own-files':
      return [__('Refused: files of this plugin are not for visitors.', 'security-optimizer'), ''];
    default:
      return rule.startsWith('ambiguous:')
        ? [
            __('Refused: the request could mean two things.', 'security-optimizer'),
            __('Browsers never send such addresses. Attackers do, to get past rules.', 'security-optimizer'),
          ]
        : null;
  }
}
