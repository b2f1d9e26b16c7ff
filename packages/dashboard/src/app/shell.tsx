import type { PageText } from '@security-optimizer/contract/pages';
import { Component, type ReactNode, useEffect, useState } from 'react';
import { ConsentPrompt } from '../features/consent/consent-prompt.js';
import { ProtectionStatus } from '../features/protection/protection-status.js';
import { __, translate } from '../i18n/translate.js';
import { HeaderFootContext } from '../ui/host.js';
import { Icon } from '../ui/icon.js';
import { Note } from '../ui/note.js';
import { RESIZE_DEBOUNCE_MS } from '../ui/times.js';
import { PHONE_MAX_WIDTH, TABLET_MAX_WIDTH } from '../ui/widths.js';
import { Loader } from './loading-line.js';
import { Toasts } from './toasts.js';

export interface ShellProps {
  readonly page: PageText;
  /** The element that the connector printed; gets the device class as `data-device`. */
  readonly container: HTMLElement;
  readonly children: ReactNode;
}

/** The parts that all pages share: header, loader, notification area, device class. */
export function Shell({ page, container, children }: ShellProps) {
  const device = useDeviceClass();
  const [foot, setFoot] = useState<HTMLElement | null>(null);
  useEffect(() => {
    container.dataset.device = device;
  }, [container, device]);

  // wp-admin has its own main landmark; page landmarks must not be nested in it.
  const isPart = container.closest('main, [role="main"]') !== null;
  const Main = isPart ? 'div' : 'main';
  return (
    <Loader>
      {(line) => (
        <>
          <Header
            page={page}
            loader={line}
            as={isPart ? 'div' : 'header'}
            status={<ProtectionStatus page={page.id} />}
            footRef={setFoot}
          />
          <Main className="so-main">
            <div className="so-wrap">
              <PageBoundary>
                <HeaderFootContext value={foot}>{children}</HeaderFootContext>
              </PageBoundary>
            </div>
          </Main>
          <ConsentPrompt />
          <Toasts />
        </>
      )}
    </Loader>
  );
}

export interface HeaderProps {
  readonly page: PageText;
  readonly loader: ReactNode;
  readonly as: 'header' | 'div';
  /** Shown at the end of the header. */
  readonly status?: ReactNode;
  /** Receives the element at the foot of the header, see `HeaderFoot`. */
  readonly footRef: (element: HTMLElement | null) => void;
}

/** The header of a page: icon, title, intro and the loading line. */
export function Header({ page, loader, as: Band, status, footRef }: HeaderProps) {
  const title = splitTitle(translate(page.title));
  return (
    <Band className="so-head">
      <div className="so-wrap">
        <div className="so-head__bar">
          <span className="so-head__icon">
            <Icon name={page.icon} size={24} />
          </span>
          <div className="so-head__text">
            <h1 className="so-head__title">
              {title.product === null ? null : (
                <>
                  <span>
                    {title.product} <i>-</i>
                  </span>{' '}
                </>
              )}
              {title.page}
            </h1>
            <p className="so-head__intro">{translate(page.intro)}</p>
          </div>
          {status}
        </div>
        <div ref={footRef} />
      </div>
      {loader}
    </Band>
  );
}

/** Keeps header and toasts visible if a page throws. */
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

/** Splits a page title at its hyphen; the first part is drawn lighter. A title without a hyphen is one part. */
export function splitTitle(title: string): { readonly product: string | null; readonly page: string } {
  const at = title.indexOf(' - ');
  return at < 0
    ? { product: null, page: title }
    : { product: title.slice(0, at), page: title.slice(at + ' - '.length) };
}

/** Device class of the window; follows resizing with a debounce of 300 ms. */
export function useDeviceClass(): DeviceClass {
  const [device, setDevice] = useState(() => deviceClass(window.innerWidth));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onResize = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => setDevice(deviceClass(window.innerWidth)), RESIZE_DEBOUNCE_MS);
    };
    window.addEventListener('resize', onResize);
    return () => {
      clearTimeout(timer);
      window.removeEventListener('resize', onResize);
    };
  }, []);
  return device;
}

export type DeviceClass = 'phone' | 'tablet' | 'desktop';

/** Device class of a width in CSS pixels (specification section 2). */
export function deviceClass(width: number): DeviceClass {
  if (width <= PHONE_MAX_WIDTH) return 'phone';
  return width <= TABLET_MAX_WIDTH ? 'tablet' : 'desktop';
}
