import { useEffect } from 'react';
import { Loader } from '../../src/loader/loader.js';
import type { Notice, NoticeType } from '../../src/notices/notice.js';
import { Toast } from '../../src/notices/toast.js';
import { Toasts } from '../../src/notices/toasts.js';
import { useServices } from '../../src/services.js';
import type { Group, PartExample } from '../example.js';
import { LONG, nothing } from './samples.js';

const action = { label: 'Log in again', href: '#log-in' };

function toast(id: string, notice: Notice, leaving = false): PartExample {
  return {
    id: `toast-${id}`,
    title: `message, ${id.replace(/-/g, ' ')}`,
    ground: 'page',
    draw: () => (
      <div style={{ width: 360 }}>
        <Toast notice={{ ...notice, id: 1, leaving }} onClose={nothing} />
      </div>
    ),
  };
}

/** As the pages show them: each says its part to the store. */
function Several() {
  const { notices } = useServices();
  useEffect(() => {
    const types: readonly NoticeType[] = ['success', 'info', 'warning', 'error'];
    for (const type of types) notices.show({ type, text: `A message of the type ${type}.`, autoClose: false });
  }, [notices]);
  return <Toasts />;
}

function Running() {
  const { requests } = useServices();
  useEffect(() => requests.started('gallery'), [requests]);
  return (
    <Loader delay={0} requests={['gallery']}>
      {(line) => line}
    </Loader>
  );
}

export const notices: Group = {
  id: 'notices',
  title: 'Messages and the loader',
  examples: [
    toast('success', { type: 'success', text: 'The setting is saved.', autoClose: true }),
    toast('error', { type: 'error', text: 'The setting could not be saved.', autoClose: false }),
    toast('warning', {
      type: 'warning',
      title: 'Two plugins were skipped',
      text: 'They are not free.',
      autoClose: false,
    }),
    toast('info', { type: 'info', title: 'Five recipients is the limit', text: 'Remove one first.', autoClose: true }),
    toast('without-title', { type: 'info', text: 'There are new entries.', autoClose: false }),
    toast('with-button', { type: 'error', text: 'You are logged out', autoClose: false, action }),
    toast('server-text', {
      type: 'error',
      text: 'Ask your <strong>host</strong> or read <a href="http://example.com/">how</a>.',
      autoClose: false,
    }),
    toast('long-text', { type: 'warning', title: LONG, text: `${LONG}. ${LONG}.`, autoClose: false, action }),
    { id: 'toasts', title: 'the area of messages', alone: true, draw: () => <Several /> },
    { id: 'loader', title: 'loader line', ground: 'flush', draw: () => <Running /> },
  ],
};
