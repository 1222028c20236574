/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Somebody on the way who has the keys: packets of QUIC are opened, changed and sealed again (RFC 9001,
 * 5), so that what arrives is what a faulty peer would say. Keys are from the key log of either end,
 * and from the first ID of the client; the suite is TLS_AES_128_GCM_SHA256.
 */
#ifndef QUIC_TAMPER_H
#define QUIC_TAMPER_H

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gnutls/crypto.h>
#include <gtest/gtest.h>

extern "C" {
#include "fg_bytes.h"
#include "fg_checksum.h"
}

namespace l4
{
using Bytes = std::vector<uint8_t>;

inline Bytes
operator+(Bytes a, const Bytes &b)
{
	a.insert(a.end(), b.begin(), b.end());
	return a;
}

inline gnutls_datum_t
Datum(const Bytes &b)
{
	return {(unsigned char *)b.data(), (unsigned)b.size()};
}

/* HKDF-Expand-Label of TLS 1.3 without a context */
inline Bytes
Expand(const Bytes &secret, const std::string &label, size_t length)
{
	std::string text = "tls13 " + label;
	Bytes info = {0, (uint8_t)length, (uint8_t)text.size()}, out(length);
	gnutls_datum_t key = Datum(secret), of;

	info.insert(info.end(), text.begin(), text.end());
	info.push_back(0);
	of = Datum(info);
	EXPECT_EQ(0, gnutls_hkdf_expand(GNUTLS_MAC_SHA256, &key, &of, out.data(), length));
	return out;
}

/* The keys of packets of one level one way */
class Seal
{
      public:
	explicit Seal(const Bytes &secret)
	    : key(Expand(secret, "quic key", 16)), iv(Expand(secret, "quic iv", 12)),
	      mask(Expand(secret, "quic hp", 16))
	{
	}
	/* @return false: the tag is wrong */
	bool
	Crypt(bool seal, uint64_t number, const Bytes &header, const Bytes &in, Bytes *out) const
	{
		gnutls_datum_t k = Datum(key);
		gnutls_aead_cipher_hd_t h;
		Bytes nonce = iv;
		size_t length = in.size() + (seal ? 16 : 0);

		for (unsigned i = 0; i < 8; i++)
			nonce[4 + i] ^= (uint8_t)(number >> (56 - 8 * i));
		out->resize(length);
		EXPECT_EQ(0, gnutls_aead_cipher_init(&h, GNUTLS_CIPHER_AES_128_GCM, &k));
		int rc = (seal ? gnutls_aead_cipher_encrypt : gnutls_aead_cipher_decrypt)(
			h, nonce.data(), nonce.size(), header.data(), header.size(), 16, in.data(), in.size(),
			out->data(), &length);
		gnutls_aead_cipher_deinit(h);
		out->resize(length);
		return rc == 0;
	}
	/* five bytes, by the sample of a packet */
	Bytes
	Mask(const uint8_t *sample) const
	{
		gnutls_datum_t k = Datum(mask);
		Bytes zero(16), out(16);
		gnutls_datum_t none = Datum(zero);
		gnutls_cipher_hd_t h;

		EXPECT_EQ(0, gnutls_cipher_init(&h, GNUTLS_CIPHER_AES_128_CBC, &k, &none));
		EXPECT_EQ(0, gnutls_cipher_encrypt2(h, sample, 16, out.data(), 16));
		gnutls_cipher_deinit(h);
		return out;
	}

      private:
	Bytes key, iv, mask;
};

enum Level { INITIAL = 0, HANDSHAKE = 2, ONE_RTT = 4 };

struct QuicPacket {
	Level level;
	uint64_t number;
	Bytes frames;
	uint8_t reserved; /* bits of the first byte that are to be the other way round */
	Bytes behind;     /* of the last packet, with a long header: frames of one more, with 1-RTT keys */
};

class Tamper
{
      public:
	/* @return whether it has changed anything */
	using Change = std::function<bool(unsigned from, QuicPacket &packet)>;

	explicit Tamper(Change change) : change(change)
	{
	}

	/* Change what is in a frame of Ethernet, IPv4 and UDP. @param log  the key log so far */
	void
	operator()(const char *log, unsigned from, Bytes &frame)
	{
		const size_t headers = 42;
		Bytes in(frame.begin() + headers, frame.end()), out;

		for (size_t at = 0; at < in.size();)
			out = out + Next(log, from, in, &at);
		if (out == in)
			return;
		frame.resize(headers);
		frame = frame + out;
		fg_put16(&frame[16], (uint16_t)(frame.size() - 14));
		fg_put16(&frame[24], 0);
		uint16_t sum = fg_checksum_finish(fg_checksum_add(0, &frame[14], 20));
		memcpy(&frame[24], &sum, 2);
		fg_put16(&frame[38], (uint16_t)(frame.size() - 34));
		fg_put16(&frame[40], 0);
	}

      private:
	static uint64_t
	Integer(const Bytes &in, size_t *at)
	{
		size_t length = (size_t)1 << (in[*at] >> 6);
		uint64_t out = in[(*at)++] & 0x3f;

		while (--length > 0)
			out = out << 8 | in[(*at)++];
		return out;
	}
	/* the packet at *at, which goes behind it */
	Bytes
	Next(const char *log, unsigned from, const Bytes &in, size_t *at)
	{
		size_t begin = *at, number = begin + 9, end = in.size(), length_at = number;
		bool is_long = in[begin] & 0x80;
		Level level = ONE_RTT;

		if (is_long) {
			const uint8_t *id = &in[begin + 6];
			size_t to = begin + 6 + id[-1];

			level = (Level)(in[begin] >> 4 & 3);
			to += 1U + in[to];
			if (level == INITIAL) {
				if (from == 0 && first_id.empty())
					first_id.assign(id, id + id[-1]);
				size_t token = Integer(in, &to);
				to += token;
			}
			length_at = to;
			end = Integer(in, &to);
			number = to;
			end += number;
		}
		*at = end;
		Bytes whole(in.begin() + begin, in.begin() + end);
		const Seal *seal = Keys(log, from, level);
		if (seal == nullptr || end - number < 20)
			return whole;
		Bytes behind;
		Bytes out = Changed(from, level, *seal, whole, number - begin, length_at - begin, &behind);
		const Seal *more = Keys(log, from, ONE_RTT);
		if (behind.empty() || end < in.size() || more == nullptr)
			return out;
		Bytes header(in.begin() + begin + 6, in.begin() + begin + 6 + in[begin + 5]);
		return out + Sealed(*more, ONE_RTT, Bytes{0x43} + header, 0, behind);
	}
	Bytes
	Changed(unsigned from, Level level, const Seal &seal, const Bytes &whole, size_t number,
		size_t length_at, Bytes *behind)
	{
		Bytes mask = seal.Mask(&whole[number + 4]), header(whole.begin(), whole.begin() + number);
		QuicPacket packet = {level, 0, {}, 0, {}};

		header[0] ^= mask[0] & (level == ONE_RTT ? 0x1f : 0x0f);
		for (unsigned i = 0; i <= (header[0] & 3); i++) {
			header.push_back(whole[number + i] ^ mask[1 + i]);
			packet.number = packet.number << 8 | header.back();
		}
		Bytes sealed(whole.begin() + header.size(), whole.end());
		if (!seal.Crypt(false, packet.number, header, sealed, &packet.frames) ||
		    !change(from, packet))
			return whole;
		*behind = packet.behind;

		header.resize(length_at);
		header[0] = (header[0] | 3) ^ packet.reserved;
		if (level != ONE_RTT)
			header = header + Sized(4 + packet.frames.size() + 16);
		return Sealed(seal, level, header, packet.number, packet.frames);
	}
	/* @param header  without the number of the packet, which has four bytes */
	static Bytes
	Sealed(const Seal &seal, Level level, Bytes header, uint64_t n, const Bytes &frames)
	{
		size_t number = header.size();
		Bytes sealed;

		header = header + Bytes{0, 0, (uint8_t)(n >> 8), (uint8_t)n};
		EXPECT_TRUE(seal.Crypt(true, n, header, frames, &sealed));
		Bytes out = header + sealed, mask = seal.Mask(&out[number + 4]);
		out[0] ^= mask[0] & (level == ONE_RTT ? 0x1f : 0x0f);
		for (unsigned i = 0; i < 4; i++)
			out[number + i] ^= mask[1 + i];
		return out;
	}
	static Bytes
	Sized(size_t length)
	{
		return {(uint8_t)(0x40 | length >> 8), (uint8_t)length};
	}
	/* nullptr: they are not known yet */
	const Seal *
	Keys(const char *log, unsigned from, Level level)
	{
		auto known = keys.find({from, level});

		if (known != keys.end())
			return &known->second;
		Bytes secret = level == INITIAL ? InitialSecret(from) : Logged(log, from, level);
		return secret.empty() ? nullptr
				      : &keys.emplace(std::pair(from, level), Seal(secret)).first->second;
	}
	Bytes
	InitialSecret(unsigned from) const
	{
		static const Bytes salt = {0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17,
					   0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f, 0x0a};
		gnutls_datum_t id = Datum(first_id), of = Datum(salt);
		Bytes out(32);

		EXPECT_EQ(0, gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &id, &of, out.data()));
		return Expand(out, from == 0 ? "client in" : "server in", 32);
	}
	static Bytes
	Logged(const char *log, unsigned from, Level level)
	{
		std::string label = from == 0 ? "CLIENT_" : "SERVER_", text = log;
		Bytes out;

		label += level == HANDSHAKE ? "HANDSHAKE_TRAFFIC_SECRET " : "TRAFFIC_SECRET_0 ";
		size_t at = text.find(label);
		if (at == std::string::npos)
			return out;
		for (at += label.size() + 65; text[at] != '\n'; at += 2)
			out.push_back((uint8_t)std::stoi(text.substr(at, 2), nullptr, 16));
		return out;
	}

	Change change;
	Bytes first_id; /* where the client's first packets went */
	std::map<std::pair<unsigned, Level>, Seal> keys;
};

} /* namespace l4 */

#endif
