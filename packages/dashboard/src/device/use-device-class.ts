import { RESIZE_DEBOUNCE_MS } from '@security-optimizer/contract/limits';
import { useEffect, useState } from 'react';
import { type DeviceClass, deviceClass } from './device-class.js';

/** Device class of the window. Follows its size once that has rested for 300 ms. */
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
