import type { PageText } from '@security-optimizer/contract/pages';
import type { ComponentType } from 'react';
import { type Services, ServicesProvider } from './services.js';
import { Shell } from './shell/shell.js';

export interface AppProps {
  readonly services: Services;
  readonly page: PageText;
  readonly Page: ComponentType;
  readonly container: HTMLElement;
}

export function App({ services, page, Page, container }: AppProps) {
  return (
    <ServicesProvider services={services}>
      <Shell page={page} container={container}>
        <Page />
      </Shell>
    </ServicesProvider>
  );
}
