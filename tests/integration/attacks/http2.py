# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 frame by frame, for calls that no gRPC library would make: what is sent, how much of it, and when, is the test's own choice."""

import re
import select
import socket
import struct
import time

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 7, 8, 9
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER_TABLE, INITIAL_WINDOW, MAX_FRAME, TRUE_BINARY = 1, 4, 5, 0xFE03  # the last: gRPC's own, header values ending in -bin come as they are
LARGEST_WINDOW = 2**31 - 1
PATIENCE = 60

STATIC_TABLE = [(name.encode(), value.encode()) for name, value in (
    pair.partition("=")[::2] for pair in
    ":authority :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https :status=200 :status=204 :status=206 "
    ":status=304 :status=400 :status=404 :status=500 accept-charset accept-encoding=gzip,deflate accept-language accept-ranges accept "
    "access-control-allow-origin age allow authorization cache-control content-disposition content-encoding content-language "
    "content-length content-location content-range content-type cookie date etag expect expires from host if-match if-modified-since "
    "if-none-match if-range if-unmodified-since last-modified link location max-forwards proxy-authenticate proxy-authorization range "
    "referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent vary via "
    "www-authenticate".split())]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def literal(name, value):
    """A header field without index and without Huffman's code."""
    def text(data):
        return integer(len(data), 7, 0) + data
    return b"\0" + text(name.encode()) + text(value if isinstance(value, bytes) else value.encode())


def integer(value, bits, first):
    most = (1 << bits) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def call_head(path, authority, replaced=()):
    """A block of the headers that every call has; `replaced`: other values for some of them, None: left out."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": authority, "te": "trailers", "content-type": "application/grpc"}
    return b"".join(literal(*one) for one in (fields | dict(replaced)).items() if one[1] is not None)


class HeaderTable:
    """Reads header blocks. Strings in Huffman's code, which this gRPC does not send, stay unread."""

    def __init__(self):
        self.dynamic = []

    def read(self, block):
        fields, at = [], 0
        while at < len(block):
            first = block[at]
            if first & 0x80:
                index, at = self._integer(block, at, 7)
                fields.append(self._entry(index))
            elif first & 0xE0 == 0x20:
                _, at = self._integer(block, at, 5)
            else:
                indexed = first & 0xC0 == 0x40
                index, at = self._integer(block, at, 6 if indexed else 4)
                name = self._entry(index)[0] if index else None
                if name is None:
                    name, at = self._text(block, at)
                value, at = self._text(block, at)
                fields.append((name, value))
                if indexed:
                    self.dynamic.insert(0, (name, value))
        return fields

    def _entry(self, index):
        return STATIC_TABLE[index - 1] if index <= len(STATIC_TABLE) else self.dynamic[index - len(STATIC_TABLE) - 1]

    @staticmethod
    def _integer(block, at, bits):
        most = (1 << bits) - 1
        value, at, shift = block[at] & most, at + 1, 0
        if value == most:
            while True:
                value += (block[at] & 0x7F) << shift
                shift, at = shift + 7, at + 1
                if block[at - 1] < 128:
                    break
        return value, at

    def _text(self, block, at):
        coded = block[at] & 0x80
        length, at = self._integer(block, at, 7)
        return (b"" if coded else block[at:at + length]), at + length


class Call:
    """What came back on one stream."""

    def __init__(self, stream, window):
        self.stream, self.window = stream, window
        self.fields, self.data = {}, b""
        self.ended, self.reset = False, None

    def field(self, name):
        return self.fields.get(name.encode(), b"").decode(errors="replace")

    @property
    def code(self):
        """The status, None while there is none."""
        text = self.field("grpc-status")
        return int(text) if text else None

    @property
    def message(self):
        return self.field("grpc-message")

    @property
    def reason(self):
        """ErrorInfo's: its first field, beside its domain."""
        details = self.fields.get(b"grpc-status-details-bin", b"")
        found = re.search(rb"\n[\x01-\x7f]([A-Z][A-Z_]+)\x12\x04reel", details)
        return found[1].decode() if found else ""

    @property
    def messages(self):
        """What was sent, without gRPC's five bytes each."""
        out, rest = [], self.data
        while len(rest) >= 5:
            size = struct.unpack(">I", rest[1:5])[0]
            out.append(rest[5:5 + size])
            rest = rest[5 + size:]
        return out


class Connection:
    """One connection; confined to its thread."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.authority = address
        self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.calls, self.next_stream, self.rest = {}, 1, b""
        self.window, self.initial_window, self.max_frame = 65535, 65535, 16384
        self.table, self.block, self.goaway, self.closed = HeaderTable(), b"", False, False
        settings = struct.pack(">HIHI", INITIAL_WINDOW, LARGEST_WINDOW, TRUE_BINARY, 1)
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings) +
                  frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", LARGEST_WINDOW - 65535)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        try:
            self.socket.sendall(data)
        except ConnectionError:
            self._end()

    def _end(self):
        self.closed = True
        for call in self.calls.values():
            call.ended = True

    def begin(self, path, headers=()):
        """A call without its message: the headers alone."""
        call = Call(self.next_stream, self.initial_window)
        self.calls[call.stream] = call
        self.next_stream += 2
        block = call_head(path, self.authority) + b"".join(literal(*one) for one in headers)
        self.send(frame(HEADERS, END_HEADERS, call.stream, block))
        return call

    def send_data(self, call, data, end=False, patience=PATIENCE, strict=True):
        """As fast as the windows open; stops early when the call has ended, and, unless strict, when no window opens."""
        limit = time.monotonic() + patience
        view = memoryview(data)
        while len(view) and not call.ended and not self.closed:
            size = min(len(view), self.window, call.window, self.max_frame)
            if size <= 0:
                self.receive(0.2)
                if min(self.window, call.window) <= 0 and time.monotonic() > limit:
                    expect(not strict, f"no window after {patience} s, with {len(view)} bytes to send")
                    return
                continue
            last = end and size == len(view)
            self.send(frame(DATA, END_STREAM if last else 0, call.stream, bytes(view[:size])))
            view = view[size:]
            self.window -= size
            call.window -= size
        if end and not data:
            self.send(frame(DATA, END_STREAM, call.stream, b""))

    def finish(self, call, message, compressed=False):
        self.send_data(call, bytes([int(compressed)]) + struct.pack(">I", len(message)) + message, end=True)

    def unary(self, path, message=b"", headers=(), patience=PATIENCE):
        call = self.begin(path, headers)
        self.finish(call, message)
        return self.wait(call, patience)

    def wait(self, call, patience=PATIENCE):
        """Until the call has ended."""
        return self.wait_for(lambda: call.ended, patience, call)

    def wait_for(self, condition, patience=PATIENCE, value=None):
        limit = time.monotonic() + patience
        while not condition():
            if self.closed:
                raise AssertionError("the server closed the connection")
            expect(time.monotonic() < limit, f"nothing within {patience} s")
            self.receive(0.2)
        return value

    def receive(self, seconds):
        """Takes in what has come, waiting for it at most so long."""
        if not select.select([self.socket], [], [], seconds)[0]:
            return
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            return self._end()
        self.rest += data
        while len(self.rest) >= 9:
            length = int.from_bytes(self.rest[:3], "big")
            if len(self.rest) < 9 + length:
                return
            kind, flags, stream = struct.unpack(">BBI", self.rest[3:9])
            payload, self.rest = self.rest[9:9 + length], self.rest[9 + length:]
            self._take(kind, flags, stream, payload)

    def _take(self, kind, flags, stream, payload):
        call = self.calls.get(stream)
        if kind == SETTINGS and not flags & ACK:
            self._take_settings(payload)
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            step = struct.unpack(">I", payload)[0]
            if call:
                call.window += step
            elif stream == 0:
                self.window += step
        elif kind == GOAWAY:
            self.goaway = True
        elif kind in (HEADERS, CONTINUATION):
            self.block += payload
            if flags & END_HEADERS:
                fields, self.block = self.table.read(self.block), b""
                if call:
                    call.fields.update(fields)
        elif kind == DATA and call:
            call.data += payload
        elif kind == RST_STREAM and call:
            call.reset, call.ended = struct.unpack(">I", payload)[0], True
        if call and kind in (DATA, HEADERS) and flags & END_STREAM:
            call.ended = True

    def _take_settings(self, payload):
        for at in range(0, len(payload), 6):
            key, value = struct.unpack(">HI", payload[at:at + 6])
            if key == INITIAL_WINDOW:
                for call in self.calls.values():
                    call.window += value - self.initial_window
                self.initial_window = value
            elif key == MAX_FRAME:
                self.max_frame = value
        self.send(frame(SETTINGS, ACK, 0, b""))


def field(number, value):
    """A field of a protobuf message: bytes or text, or a number."""
    if isinstance(value, int):
        return integer_field(number, value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer_field(number, value):
    return varint(number << 3) + varint(value % 2**64)


def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value % 128 + 128])
        value //= 128
    return out + bytes([value])
