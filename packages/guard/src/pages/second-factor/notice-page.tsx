import type { Values } from '../../texts/language.js';
import { type IconName, Tile } from '../icon.js';
import { type FrameFacts, renderFrame } from './frame.js';

/** Pages that only say something: what happened, how things stand, the way out. In English, with names in braces. */
export interface Notice {
  readonly title: string;
  readonly text: string;
  /** What the names in text and foot stand for. */
  readonly values?: Values;
  readonly tone: 'on' | 'warn' | 'danger';
  readonly icon: IconName;
  readonly button?: { readonly label: string; readonly href: string } | undefined;
  readonly foot?: string | undefined;
  /** Tells the log-in dialog of wp-admin, which frames this page, that it can close. */
  readonly closesDialog?: boolean;
}

export function noticePage(facts: FrameFacts, notice: Notice): string {
  const { button, values } = notice;
  const { translate } = facts.language;
  return renderFrame(facts, {
    title: translate(notice.title),
    foot: notice.foot === undefined ? undefined : translate(notice.foot, values),
    // WordPress's own wp-auth-check.js looks for this class on the body.
    ...(notice.closesDialog ? { bodyClass: 'login interim-login interim-login-success' } : {}),
    content: (
      <>
        <Tile icon={notice.icon} tone={notice.tone} />
        <h1>{translate(notice.title)}</h1>
        <p>{translate(notice.text, values)}</p>
        {button ? (
          <p className="so-front__btn">
            <a className="so-btn so-btn--primary so-btn--wide" href={button.href}>
              {translate(button.label)}
            </a>
          </p>
        ) : null}
      </>
    ),
  });
}
