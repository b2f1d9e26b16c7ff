import { Component, type ReactNode } from 'react';
import { Note } from '../components/note.js';
import { __ } from '../i18n/translate.js';

/** Keeps the header and the messages on the screen when a page fails to draw. */
export class PageBoundary extends Component<{ readonly children: ReactNode }, { readonly broken: boolean }> {
  override state = { broken: false };

  static getDerivedStateFromError(): { broken: boolean } {
    return { broken: true };
  }

  override render(): ReactNode {
    if (!this.state.broken) return this.props.children;
    return (
      <section className="so-section">
        <Note kind="bad">
          <p>
            {__('This page could not be shown. Nothing was changed. Reload it to try again.', 'security-optimizer')}
          </p>
        </Note>
      </section>
    );
  }
}
