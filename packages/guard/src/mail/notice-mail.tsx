import type { ReactNode } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Language } from '../i18n/language.js';
import { subjectText } from '../lib/plain-text.js';
import { Button, Row } from './elements.js';
import { HouseMail, MailHead, Part } from './house-mail.js';
import { colours, styles } from './mail-styles.js';
import type { Mail } from './mailer.js';

/** A short mail about one event, in one language. */
export interface Notice {
  readonly subject: string;
  /** Day and time in the usual format of the language. */
  readonly date: string;
  readonly headline: string;
  /** The explanation for the reader. */
  readonly lead: string;
  readonly facts: readonly NoticeFact[];
  /** A list of counts, below the facts. */
  readonly list?: NoticeList;
  /** The box with what to do; null for none. `kind` determines its colour. */
  readonly task: NoticeTask | null;
  /** Why the reader gets this mail. */
  readonly reason: string;
  readonly reasonLink?: NoticeLink;
}

export interface NoticeFact {
  readonly name: string;
  readonly value: string;
  /** Displayed in a monospaced font, from left to right: addresses and paths. */
  readonly mono?: boolean;
  /** What the mail is about: displayed in bold. */
  readonly strong?: boolean;
  /** Follows the value after a comma, in the usual font: the host name of an address. */
  readonly detail?: string;
}

export interface NoticeList {
  readonly title: string;
  readonly rows: readonly { readonly name: string; readonly value: string }[];
  /** The rows are facts. Otherwise names are in a monospaced font, and values are numbers at the end of the line. */
  readonly plain?: boolean;
}

export interface NoticeTask {
  readonly kind: 'info' | 'warn';
  readonly title: string;
  readonly text: string;
  /** A part of the text in a monospaced font: a network. */
  readonly mono?: string;
  readonly button: NoticeLink | null;
  readonly more?: NoticeLink;
}

export interface NoticeLink {
  readonly href: string;
  readonly label: string;
}

/** Renders the mail, without its recipient. */
export function renderNotice(
  notice: Notice,
  { tag, direction }: Pick<Language, 'tag' | 'direction'>,
): Omit<Mail, 'to'> {
  const html = renderToStaticMarkup(
    <HouseMail lang={tag} dir={direction} title={notice.subject} preview={notice.lead}>
      <MailHead dir={direction} date={notice.date} headline={notice.headline} lead={notice.lead} />
      {notice.facts.length === 0 ? null : <Facts facts={notice.facts} dir={direction} />}
      {notice.list === undefined ? null : <List list={notice.list} dir={direction} />}
      {notice.task === null ? null : <Task task={notice.task} />}
      <Part top={32} bottom={32}>
        <p className="faint" style={styles.tiny}>
          {notice.reason}
          {notice.reasonLink === undefined ? null : (
            <>
              {' '}
              <TextLink {...notice.reasonLink} />
            </>
          )}
        </p>
      </Part>
    </HouseMail>,
  );
  return { subject: subjectText(notice.subject), html: `<!DOCTYPE html>${html}`, text: noticeText(notice) };
}

/** Formats the notice as plain text, for mail clients that show no HTML. */
function noticeText({ headline, date, lead, facts, list, task, reason, reasonLink }: Notice): string {
  const line = (link: NoticeLink | null | undefined) => (link ? [`${link.label}: ${link.href}`] : []);
  const blocks = [
    [headline, date],
    [lead],
    facts.map(({ name, value, detail }) => `${name}: ${value}${detail === undefined ? '' : `, ${detail}`}`),
    list === undefined ? [] : [list.title, ...list.rows.map(({ name, value }) => `- ${name}: ${value}`)],
    task === null ? [] : [task.title, task.text, ...line(task.button), ...line(task.more)],
    [reason, ...line(reasonLink)],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

interface FactsProps {
  readonly facts: readonly NoticeFact[];
  readonly dir: 'ltr' | 'rtl';
}

function Facts(props: FactsProps): ReactNode {
  return (
    <Part top={16}>
      <FactRows {...props} />
    </Part>
  );
}

function FactRows({ facts, dir }: FactsProps): ReactNode {
  const gap = dir === 'rtl' ? { paddingLeft: 16 } : { paddingRight: 16 };
  return facts.map(({ name, value, mono, strong, detail }, index) => {
    const cell = {
      ...(index === 0 ? {} : { borderTop: `1px solid ${colours.hair}` }),
      ...{ paddingTop: 10, paddingBottom: 10 },
    };
    const text = { ...styles.small, color: colours.ink, ...(strong && { fontWeight: 600 }) };
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: rows of one mail; two alerts may have the same time
      <Row key={index}>
        <td className="soft edge" width="34%" valign="top" style={{ ...styles.small, ...cell, ...gap }}>
          {name}
        </td>
        <td className="ink edge" style={{ ...text, ...cell, wordBreak: 'break-word' }}>
          {mono ? (
            <span className="ink" dir="ltr" style={styles.mono}>
              {value}
            </span>
          ) : (
            value
          )}
          {detail === undefined ? null : (
            <>
              {', '}
              <bdi>{detail}</bdi>
            </>
          )}
        </td>
      </Row>
    );
  });
}

function List({ list, dir }: { readonly list: NoticeList; readonly dir: 'ltr' | 'rtl' }): ReactNode {
  return (
    <Part top={24}>
      <h2 className="ink" style={{ ...styles.h2, margin: '0 0 8px' }}>
        {list.title}
      </h2>
      {list.plain ? <FactRows facts={list.rows} dir={dir} /> : <CountRows rows={list.rows} dir={dir} />}
    </Part>
  );
}

function CountRows({ rows, dir }: { readonly rows: NoticeList['rows']; readonly dir: 'ltr' | 'rtl' }): ReactNode {
  const gap = dir === 'rtl' ? { paddingLeft: 12 } : { paddingRight: 12 };
  return rows.map(({ name, value }, index) => {
    const cell = {
      ...(index === 0 ? {} : { borderTop: `1px solid ${colours.hair}` }),
      ...{ paddingTop: 10, paddingBottom: 10 },
    };
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: rows of one mail; two cut names may be the same
      <Row key={index}>
        <td className="ink edge" style={{ ...styles.mono, ...cell, ...gap, wordBreak: 'break-word' }}>
          <span dir="ltr">{name}</span>
        </td>
        <td
          className="soft edge"
          align={dir === 'rtl' ? 'left' : 'right'}
          style={{ ...styles.small, ...cell, whiteSpace: 'nowrap' }}
        >
          {value}
        </td>
      </Row>
    );
  });
}

function Task({ task }: { readonly task: NoticeTask }): ReactNode {
  const { kind, title, text, mono, button, more } = task;
  return (
    <Part top={24}>
      <Row className={kind === 'warn' ? 'warn' : 'panel'} style={kind === 'warn' ? styles.warnPanel : styles.panel}>
        <td style={{ padding: '20px 24px' }}>
          <h2 className="ink" style={styles.h2}>
            {title}
          </h2>
          <p className="soft" style={{ ...styles.small, margin: '4px 0 0' }}>
            {mono === undefined ? text : withMono(text, mono)}
          </p>
          {button === null && more === undefined ? null : (
            <p style={{ ...styles.small, margin: '16px 0 0' }}>
              {button === null ? null : (
                <Button className="button" href={button.href} style={styles.button} padding={{ y: 12, x: 20 }}>
                  {button.label}
                </Button>
              )}
              {more === undefined ? null : (
                <>
                  {' \u00a0\u00a0 '}
                  <TextLink {...more} strong />
                </>
              )}
            </p>
          )}
        </td>
      </Row>
    </Part>
  );
}

function withMono(text: string, mono: string): ReactNode {
  const [before, ...after] = text.split(mono);
  return (
    <>
      {before}
      {after.length === 0 ? null : (
        <span dir="ltr" style={{ fontFamily: styles.mono.fontFamily }}>
          {mono}
        </span>
      )}
      {after.join(mono)}
    </>
  );
}

/** Where it is below the button, on a phone, there is a gap between them. */
const STRONG_LINK = { ...styles.link, fontWeight: 600, display: 'inline-block', paddingTop: 14 };

function TextLink({ href, label, strong }: NoticeLink & { readonly strong?: boolean }): ReactNode {
  return (
    <a target="_blank" className="brand" href={href} style={strong ? STRONG_LINK : styles.link} rel="noopener">
      {label}
    </a>
  );
}
