import type { ReactNode } from 'react';
import { Container, MailDocument, Row } from './elements.js';
import { CARD_WIDTH, darkSheet, narrowSheet, styles } from './mail-styles.js';

/** The frame of all mails of guard: a card of 600 pixels, without images or external resources. */
export function HouseMail(props: {
  readonly lang: string;
  readonly dir: 'ltr' | 'rtl';
  readonly title: string;
  /** The text next to the subject in a list of mails. */
  readonly preview: string;
  readonly children: ReactNode;
}): ReactNode {
  const { lang, dir, title, preview, children } = props;
  const head = (
    <>
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="supported-color-schemes" content="light dark" />
      <meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no" />
      <title>{title}</title>
      <Sheet css={narrowSheet} />
      <Sheet css={darkSheet} />
    </>
  );
  return (
    <MailDocument lang={lang} dir={dir} preview={preview} head={head} className="page" style={styles.body}>
      <Row>
        <td align="center" style={styles.page}>
          {/* Language and direction once more: Gmail keeps neither the root nor the body. */}
          <Container className="card" width={CARD_WIDTH} style={styles.card} lang={lang} dir={dir}>
            {children}
          </Container>
        </td>
      </Row>
    </MailDocument>
  );
}

function Sheet({ css }: { readonly css: string }): ReactNode {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: our own constant; React would escape its quotes
  return <style dangerouslySetInnerHTML={{ __html: css }} />;
}

/** Product and date, the headline, and its explanation. */
export function MailHead(props: {
  readonly dir: 'ltr' | 'rtl';
  readonly date: string;
  readonly headline: string;
  readonly lead: string;
}): ReactNode {
  const { dir, date, headline, lead } = props;
  return (
    <>
      <Part top={28}>
        <Row>
          <td className="brand" style={styles.brand}>
            Security Optimizer
          </td>
          <td className="soft" align={dir === 'rtl' ? 'left' : 'right'} style={styles.small}>
            {date}
          </td>
        </Row>
      </Part>
      <Part top={24}>
        <h1 className="ink" style={styles.h1}>
          {headline}
        </h1>
        <p className="soft" style={styles.lead}>
          {lead}
        </p>
      </Part>
    </>
  );
}

/** A part of the card. A cell has its padding, because Outlook does not support padding of tables. */
export function Part(props: {
  readonly top: number;
  readonly bottom?: number;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <Row>
      <td className="pad" style={{ padding: `${props.top}px 40px ${props.bottom ?? 0}px` }}>
        {props.children}
      </td>
    </Row>
  );
}
