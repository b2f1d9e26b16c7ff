import type { PageText } from '@security-optimizer/contract/pages';
import { Component, type ReactNode, useEffect, useState } from 'react';
import { ConsentPrompt } from '../features/consent/consent-prompt.js';
import { __ } from '../i18n/translate.js';
import { Note } from '../ui/inline-messages.js';
import { HeaderFootContext } from '../ui/portals.js';
import { PHONE_MAX_WIDTH, RESIZE_DEBOUNCE_MS, TABLET_MAX_WIDTH } from '../ui/timing.js';
import { Toasts } from '../ui/toasts.js';
import { Header, ProtectionStatus } from './header.js';
import { Loader } from './loading-bar.js';

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
