# SPDX-License-Identifier: Apache-2.0
"""A connection that breaks: passes what both sides say, and resets some connections after so many bytes of the server's."""

import contextlib
import socket
import struct
import threading


class CutProxy:
    """`cuts` holds, for each connection of the first ones, after how many bytes it breaks."""

    def __init__(self, target, cuts):
        host, port = target.rsplit(":", 1)
        self._target, self._cuts, self._lock = (host, int(port)), list(cuts), threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.broken = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                with self._lock:
                    left = self._cuts.pop(0) if self._cuts else None
                server = socket.create_connection(self._target)
                threading.Thread(target=self._pass, args=(client, server, None), daemon=True).start()
                threading.Thread(target=self._pass, args=(server, client, left), daemon=True).start()

    def _pass(self, source, sink, left):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    self.broken += 1
                    break
                left = None if left is None else left - len(data)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):  # reset, not ended: a peer that vanished
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.close()
