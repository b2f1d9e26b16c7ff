import type { RegisteredRow, UnknownRow } from '@security-optimizer/contract/activity';
import { readList, readRegisteredRow, readUnknownRow } from './read-list.js';
import type { ListSource } from './use-log-list.js';

export const unknownSource: ListSource<UnknownRow> = {
  name: 'activityUnknown',
  suffix: '/activity-unknown',
  read: (data) => readList(data, readUnknownRow),
};

export const registeredSource: ListSource<RegisteredRow> = {
  name: 'registeredActivity',
  suffix: '/activity-registered',
  read: (data) => readList(data, readRegisteredRow),
};
