import type { PageText } from '@security-optimizer/contract/pages';
import { type ReactNode, useEffect, useState } from 'react';
import { ConsentPrompt } from '../consent/consent-prompt.js';
import { useDeviceClass } from '../device/use-device-class.js';
import { Loader } from '../loader/loader.js';
import { Toasts } from '../notices/toasts.js';
import { ProtectionStatus } from '../protection/protection-status.js';
import { HeadFootPlace } from './head-foot.js';
import { Header } from './header.js';
import { PageBoundary } from './page-boundary.js';

export interface ShellProps {
  readonly page: PageText;
  /** Element that the connector printed. It gets the device class as `data-device`. */
  readonly container: HTMLElement;
  readonly children: ReactNode;
}

/** What all pages share: header, loader, notification area, device class. */
export function Shell({ page, container, children }: ShellProps) {
  const device = useDeviceClass();
  const [foot, setFoot] = useState<HTMLElement | null>(null);
  useEffect(() => {
    container.dataset.device = device;
  }, [container, device]);

  // wp-admin has a main landmark of its own around us, and landmarks of the page do not belong inside it.
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
                <HeadFootPlace value={foot}>{children}</HeadFootPlace>
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
