/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registers of BAR 0 that the model knows, as one table: name, offset, number, distance, what an
 * access does, bits that software must write as zero, and where the datasheet ("Intel 82599 10 GbE
 * Controller Datasheet") describes it. The section numbers and the bits are from memory of that datasheet;
 * where only the driver's use of a register is known, the section says "driver", and nothing but storage
 * is promised.
 *
 * From the table come the constants NIC_<NAME>, the names in traces, and the strictness: a write to an
 * offset that is not in the table, or of reserved bits, is a breach.
 */
#ifndef NIC_REG_H
#define NIC_REG_H

#define RESERVED_NONE 0u

/*        name        offset   number distance access reserved bits section */
#define NIC_REGISTERS(X)                                                   \
	/* General control */                                              \
	X(CTRL, 0x00000, 1, 4, RW, 0xfbfffff3u, "8.2.3.1.1")               \
	X(STATUS, 0x00008, 1, 4, RO, RESERVED_NONE, "8.2.3.1.2")           \
	X(CTRL_EXT, 0x00018, 1, 4, RW, RESERVED_NONE, "8.2.3.1.3")         \
	X(ESDP, 0x00020, 1, 4, RW, RESERVED_NONE, "8.2.3.1.4")             \
	X(I2CCTL, 0x00028, 1, 4, RW, RESERVED_NONE, "8.2.3.1.5")           \
	X(FRTIMER, 0x00048, 1, 4, RO, RESERVED_NONE, "driver")             \
	X(LEDCTL, 0x00200, 1, 4, RW, RESERVED_NONE, "8.2.3.1.6")           \
	/* Interrupts */                                                   \
	X(EICR, 0x00800, 1, 4, RC, RESERVED_NONE, "8.2.3.5.1")             \
	X(EICS, 0x00808, 1, 4, RW, RESERVED_NONE, "8.2.3.5.2")             \
	X(EIAC, 0x00810, 1, 4, RW, RESERVED_NONE, "8.2.3.5.5")             \
	X(EITR, 0x00820, 24, 4, RW, RESERVED_NONE, "8.2.3.5.12")           \
	X(EIMS, 0x00880, 1, 4, RW, RESERVED_NONE, "8.2.3.5.3")             \
	X(EIMC, 0x00888, 1, 4, RW, RESERVED_NONE, "8.2.3.5.4")             \
	X(EIAM, 0x00890, 1, 4, RW, RESERVED_NONE, "8.2.3.5.6")             \
	X(GPIE, 0x00898, 1, 4, RW, RESERVED_NONE, "8.2.3.5.18")            \
	X(IVAR, 0x00900, 64, 4, RW, 0x40404040u, "8.2.3.5.16")             \
	X(IVAR_MISC, 0x00A00, 1, 4, RW, RESERVED_NONE, "8.2.3.5.17")       \
	X(EICS_EX, 0x00A90, 2, 4, RW, RESERVED_NONE, "8.2.3.5.7")          \
	X(EIMS_EX, 0x00AA0, 2, 4, RW, RESERVED_NONE, "8.2.3.5.8")          \
	X(EIMC_EX, 0x00AB0, 2, 4, RW, RESERVED_NONE, "8.2.3.5.9")          \
	X(EIAM_EX, 0x00AD0, 2, 4, RW, RESERVED_NONE, "8.2.3.5.11")         \
	X(EITR_EX, 0x12300, 128, 4, RW, RESERVED_NONE, "8.2.3.5.12")       \
	/* Receive DMA, queues 0 to 63 and 64 to 127 */                    \
	X(RDBAL, 0x01000, 64, 0x40, RW, 0x7fu, "8.2.3.8.1")                \
	X(RDBAH, 0x01004, 64, 0x40, RW, RESERVED_NONE, "8.2.3.8.2")        \
	X(RDLEN, 0x01008, 64, 0x40, RW, 0xfff0007fu, "8.2.3.8.3")          \
	X(DCA_RXCTRL, 0x0100C, 64, 0x40, RW, RESERVED_NONE, "8.2.3.11.1")  \
	X(RDH, 0x01010, 64, 0x40, RW, 0xffff0000u, "8.2.3.8.4")            \
	X(SRRCTL, 0x01014, 64, 0x40, RW, RESERVED_NONE, "8.2.3.8.7")       \
	X(RDT, 0x01018, 64, 0x40, RW, 0xffff0000u, "8.2.3.8.5")            \
	X(RXDCTL, 0x01028, 64, 0x40, RW, RESERVED_NONE, "8.2.3.8.6")       \
	X(RSCCTL, 0x0102C, 64, 0x40, RW, RESERVED_NONE, "8.2.3.8.13")      \
	X(QPRC, 0x01030, 16, 0x40, RC, RESERVED_NONE, "8.2.3.23.66")       \
	X(QBRC_L, 0x01034, 16, 0x40, RC, RESERVED_NONE, "8.2.3.23.67")     \
	X(QBRC_H, 0x01038, 16, 0x40, RC, RESERVED_NONE, "8.2.3.23.67")     \
	X(QPRDC, 0x01430, 16, 0x40, RC, RESERVED_NONE, "8.2.3.23.68")      \
	X(RXHIGH, 0x0D000, 0x400, 4, RW, RESERVED_NONE, "8.2.3.8")         \
	X(RQSMR, 0x02300, 32, 4, RW, 0xf0f0f0f0u, "8.2.3.23.64")           \
	X(RDRXCTL, 0x02F00, 1, 4, RW, RESERVED_NONE, "8.2.3.8.8")          \
	X(RXCTRL, 0x03000, 1, 4, RW, 0xfffffffeu, "8.2.3.8.10")            \
	X(RXPBSIZE, 0x03C00, 8, 4, RW, 0xfff003ffu, "8.2.3.8.9")           \
	X(DROPEN, 0x03D04, 1, 4, RW, RESERVED_NONE, "driver")              \
	/* Flow control */                                                 \
	X(PFCTOP, 0x03008, 1, 4, RW, RESERVED_NONE, "8.2.3.3.1")           \
	X(FCTTV, 0x03200, 4, 4, RW, RESERVED_NONE, "8.2.3.3.2")            \
	X(FCRTL, 0x03220, 16, 4, RW, RESERVED_NONE, "8.2.3.3.3")           \
	X(FCRTH, 0x03260, 8, 4, RW, RESERVED_NONE, "8.2.3.3.4")            \
	X(FCRTV, 0x032A0, 1, 4, RW, RESERVED_NONE, "8.2.3.3.5")            \
	X(FCCFG, 0x03D00, 1, 4, RW, RESERVED_NONE, "8.2.3.3.7")            \
	X(TFCS, 0x0CE00, 1, 4, RO, RESERVED_NONE, "8.2.3.3.6")             \
	X(MFLCN, 0x04294, 1, 4, RW, RESERVED_NONE, "8.2.3.22.34")          \
	/* Statistics */                                                   \
	X(LXONTXC, 0x03F60, 1, 4, RC, RESERVED_NONE, "8.2.3.23.8")         \
	X(LXOFFTXC, 0x03F68, 1, 4, RC, RESERVED_NONE, "8.2.3.23.10")       \
	X(PXONTXC, 0x03F00, 24, 4, RC, RESERVED_NONE, "8.2.3.23.16")       \
	X(RXMPC, 0x03FA0, 8, 4, RC, RESERVED_NONE, "8.2.3.23.4")           \
	X(RNBC, 0x03FC0, 8, 4, RC, RESERVED_NONE, "driver")                \
	X(CRCERRS, 0x04000, 1, 4, RC, RESERVED_NONE, "8.2.3.23.1")         \
	X(ILLERRC, 0x04004, 1, 4, RC, RESERVED_NONE, "8.2.3.23.2")         \
	X(ERRBC, 0x04008, 1, 4, RC, RESERVED_NONE, "8.2.3.23.3")           \
	X(MLFC, 0x04034, 1, 4, RC, RESERVED_NONE, "8.2.3.23.5")            \
	X(MRFC, 0x04038, 1, 4, RC, RESERVED_NONE, "8.2.3.23.6")            \
	X(RLEC, 0x04040, 1, 4, RC, RESERVED_NONE, "8.2.3.23.7")            \
	X(PRC64, 0x0405C, 6, 4, RC, RESERVED_NONE, "8.2.3.23.18")          \
	X(GPRC, 0x04074, 1, 4, RC, RESERVED_NONE, "8.2.3.23.26")           \
	X(BPRC, 0x04078, 1, 4, RC, RESERVED_NONE, "8.2.3.23.24")           \
	X(MPRC, 0x0407C, 1, 4, RC, RESERVED_NONE, "8.2.3.23.25")           \
	X(GPTC, 0x04080, 1, 4, RC, RESERVED_NONE, "8.2.3.23.28")           \
	X(GORCL, 0x04088, 2, 4, RC, RESERVED_NONE, "8.2.3.23.27")          \
	X(GOTCL, 0x04090, 2, 4, RC, RESERVED_NONE, "8.2.3.23.29")          \
	X(RUC, 0x040A4, 1, 4, RC, RESERVED_NONE, "8.2.3.23.30")            \
	X(RFC, 0x040A8, 1, 4, RC, RESERVED_NONE, "8.2.3.23.31")            \
	X(ROC, 0x040AC, 1, 4, RC, RESERVED_NONE, "8.2.3.23.32")            \
	X(RJC, 0x040B0, 1, 4, RC, RESERVED_NONE, "8.2.3.23.33")            \
	X(MNGPRC, 0x040B4, 3, 4, RC, RESERVED_NONE, "8.2.3.23.34")         \
	X(MNGPTC, 0x0CF90, 1, 4, RC, RESERVED_NONE, "8.2.3.23.36")         \
	X(TORL, 0x040C0, 2, 4, RC, RESERVED_NONE, "8.2.3.23.37")           \
	X(TPR, 0x040D0, 1, 4, RC, RESERVED_NONE, "8.2.3.23.38")            \
	X(TPT, 0x040D4, 1, 4, RC, RESERVED_NONE, "8.2.3.23.39")            \
	X(PTC64, 0x040D8, 6, 4, RC, RESERVED_NONE, "8.2.3.23.40")          \
	X(MPTC, 0x040F0, 1, 4, RC, RESERVED_NONE, "8.2.3.23.46")           \
	X(BPTC, 0x040F4, 1, 4, RC, RESERVED_NONE, "8.2.3.23.47")           \
	X(MSPDC, 0x04010, 1, 4, RC, RESERVED_NONE, "8.2.3.23.48")          \
	X(XEC, 0x04120, 1, 4, RC, RESERVED_NONE, "8.2.3.23.49")            \
	X(FCCRC, 0x05118, 1, 4, RC, RESERVED_NONE, "8.2.3.23.70")          \
	X(FCOE, 0x0241C, 5, 4, RC, RESERVED_NONE, "8.2.3.23.71")           \
	X(FCOETX, 0x08784, 2, 4, RC, RESERVED_NONE, "8.2.3.23.75")         \
	X(PXOFFRX, 0x04140, 24, 4, RC, RESERVED_NONE, "8.2.3.23.13")       \
	X(LXONRXCNT, 0x041A4, 1, 4, RC, RESERVED_NONE, "8.2.3.23.9")       \
	X(LXOFFRXCNT, 0x041A8, 1, 4, RC, RESERVED_NONE, "8.2.3.23.11")     \
	X(BMC2OS, 0x08F18, 2, 4, RC, RESERVED_NONE, "driver")              \
	/* MAC */                                                          \
	X(PCS1GLCTL, 0x04208, 14, 4, RW, RESERVED_NONE, "8.2.3.22.1")      \
	X(HLREG0, 0x04240, 1, 4, RW, RESERVED_NONE, "8.2.3.22.8")          \
	X(HLREG1, 0x04244, 1, 4, RO, RESERVED_NONE, "8.2.3.22.9")          \
	X(MSCA, 0x0425C, 1, 4, RW, RESERVED_NONE, "8.2.3.22.11")           \
	X(MSRWD, 0x04260, 1, 4, RW, RESERVED_NONE, "8.2.3.22.12")          \
	X(MAXFRS, 0x04268, 1, 4, RW, 0x0000ffffu, "8.2.3.22.13")           \
	X(AUTOC, 0x042A0, 1, 4, RW, RESERVED_NONE, "8.2.3.22.19")          \
	X(LINKS, 0x042A4, 1, 4, RO, RESERVED_NONE, "8.2.3.22.20")          \
	X(AUTOC2, 0x042A8, 1, 4, RW, RESERVED_NONE, "8.2.3.22.22")         \
	X(ANLP1, 0x042B0, 2, 4, RO, RESERVED_NONE, "8.2.3.22.24")          \
	X(MMNGC, 0x042D0, 1, 4, RW, RESERVED_NONE, "8.2.3.22.28")          \
	X(MACC, 0x04330, 1, 4, RW, RESERVED_NONE, "8.2.3.22.30")           \
	X(LINKS2, 0x04324, 1, 4, RO, RESERVED_NONE, "8.2.3.22.21")         \
	/* DCB and the rate scheduler */                                   \
	X(RTTDCS, 0x04900, 1, 4, RW, RESERVED_NONE, "8.2.3.10.1")          \
	X(RTTDQSEL, 0x04904, 1, 4, RW, 0xffffff80u, "8.2.3.10.2")          \
	X(RTTDT1C, 0x04908, 1, 4, RW, RESERVED_NONE, "8.2.3.10.3")         \
	X(RTTDT2C, 0x04910, 8, 4, RW, RESERVED_NONE, "8.2.3.10.4")         \
	X(TXPBTHRESH, 0x04950, 8, 4, RW, RESERVED_NONE, "8.2.3.9.16")      \
	X(RTTBCNRM, 0x04980, 1, 4, RW, RESERVED_NONE, "8.2.3.10.15")       \
	X(RTTBCNRC, 0x04984, 1, 4, RW, 0x7f000000u, "8.2.3.10.16")         \
	X(RTTBCNACH, 0x0498C, 10, 4, RW, RESERVED_NONE, "driver")          \
	X(RTRPCS, 0x02430, 1, 4, RW, RESERVED_NONE, "8.2.3.10.6")          \
	X(RTRPT4C, 0x02140, 8, 4, RW, RESERVED_NONE, "8.2.3.10.8")         \
	X(RTTPCS, 0x0CD00, 1, 4, RW, RESERVED_NONE, "8.2.3.10.7")          \
	X(RTTPT2C, 0x0CD20, 8, 4, RW, RESERVED_NONE, "8.2.3.10.9")         \
	X(RTRUP2TC, 0x03020, 1, 4, RW, RESERVED_NONE, "8.2.3.10.10")       \
	X(RTTUP2TC, 0x0C800, 1, 4, RW, RESERVED_NONE, "8.2.3.10.11")       \
	/* Transmit */                                                     \
	X(DMATXCTL, 0x04A80, 1, 4, RW, RESERVED_NONE, "8.2.3.9.2")         \
	X(DTXTCPFLG, 0x04A88, 2, 4, RW, RESERVED_NONE, "8.2.3.9.3")        \
	X(TDBAL, 0x06000, 128, 0x40, RW, 0x7fu, "8.2.3.9.5")               \
	X(TDBAH, 0x06004, 128, 0x40, RW, RESERVED_NONE, "8.2.3.9.6")       \
	X(TDLEN, 0x06008, 128, 0x40, RW, 0xfff0007fu, "8.2.3.9.7")         \
	X(DCA_TXCTRL, 0x0600C, 128, 0x40, RW, RESERVED_NONE, "8.2.3.11.2") \
	X(TDH, 0x06010, 128, 0x40, RW, 0xffff0000u, "8.2.3.9.8")           \
	X(TDT, 0x06018, 128, 0x40, RW, 0xffff0000u, "8.2.3.9.9")           \
	X(TXDCTL, 0x06028, 128, 0x40, RW, RESERVED_NONE, "8.2.3.9.10")     \
	X(QPTC, 0x06030, 16, 0x40, RC, RESERVED_NONE, "driver")            \
	X(TDWBAL, 0x06038, 128, 0x40, RW, 0x2u, "8.2.3.9.11")              \
	X(TDWBAH, 0x0603C, 128, 0x40, RW, RESERVED_NONE, "8.2.3.9.12")     \
	X(DTXMXSZRQ, 0x08100, 1, 4, RW, RESERVED_NONE, "8.2.3.9.1")        \
	X(MTQC, 0x08120, 1, 4, RW, RESERVED_NONE, "8.2.3.9.15")            \
	X(TQSM, 0x08600, 32, 4, RW, 0xf0f0f0f0u, "8.2.3.23.65")            \
	X(QBTC, 0x08700, 32, 4, RC, RESERVED_NONE, "8.2.3.23.70")          \
	X(SSVPC, 0x08780, 1, 4, RC, RESERVED_NONE, "8.2.3.23.63")          \
	X(SECTXCTRL, 0x08800, 2, 4, RW, RESERVED_NONE, "8.2.3.12.1")       \
	X(SECTXBUF, 0x08808, 3, 4, RW, RESERVED_NONE, "8.2.3.12.3")        \
	X(SECRXCTRL, 0x08D00, 2, 4, RW, RESERVED_NONE, "8.2.3.12.5")       \
	X(TXPBSIZE, 0x0CC00, 8, 4, RW, 0xfff003ffu, "8.2.3.9.13")          \
	/* MACsec: counters only */                                        \
	X(LSECTX, 0x08A3C, 5, 4, RC, RESERVED_NONE, "8.2.3.13")            \
	X(LSECRX, 0x08F40, 17, 4, RC, RESERVED_NONE, "8.2.3.13")           \
	/* Receive filters */                                              \
	X(RXCSUM, 0x05000, 1, 4, RW, 0xffffcfffu, "8.2.3.7.5")             \
	X(RFCTL, 0x05008, 1, 4, RW, RESERVED_NONE, "8.2.3.7.6")            \
	X(EXVET, 0x05078, 1, 4, RW, RESERVED_NONE, "8.2.3.1.7")            \
	X(FCTRL, 0x05080, 1, 4, RW, 0xffffc8fdu, "8.2.3.7.1")              \
	X(VLNCTRL, 0x05088, 1, 4, RW, RESERVED_NONE, "8.2.3.7.2")          \
	X(MCSTCTRL, 0x05090, 1, 4, RW, 0xfffffff8u, "8.2.3.7.3")           \
	X(ETQF, 0x05128, 8, 4, RW, RESERVED_NONE, "8.2.3.7.15")            \
	X(VT_CTL, 0x051B0, 1, 4, RW, RESERVED_NONE, "8.2.3.27.1")          \
	X(MTA, 0x05200, 128, 4, RW, RESERVED_NONE, "8.2.3.7.7")            \
	X(UTA, 0x0F400, 128, 4, RW, RESERVED_NONE, "8.2.3.27.20")          \
	X(VFTA, 0x0A000, 128, 4, RW, RESERVED_NONE, "8.2.3.7.11")          \
	X(RAL, 0x0A200, 128, 8, RW, RESERVED_NONE, "8.2.3.7.8")            \
	X(RAH, 0x0A204, 128, 8, RW, 0x7ffc0000u, "8.2.3.7.9")              \
	X(MPSAR, 0x0A600, 256, 4, RW, RESERVED_NONE, "8.2.3.7.10")         \
	X(SAQF, 0x0E000, 128, 4, RW, RESERVED_NONE, "8.2.3.7.16")          \
	X(DAQF, 0x0E200, 128, 4, RW, RESERVED_NONE, "8.2.3.7.17")          \
	X(SDPQF, 0x0E400, 128, 4, RW, RESERVED_NONE, "8.2.3.7.18")         \
	X(FTQF, 0x0E600, 128, 4, RW, RESERVED_NONE, "8.2.3.7.19")          \
	X(L34TIMIR, 0x0E800, 128, 4, RW, RESERVED_NONE, "8.2.3.7.20")      \
	X(PSRTYPE, 0x0EA00, 64, 4, RW, RESERVED_NONE, "8.2.3.7.4")         \
	X(RETA, 0x0EB00, 32, 4, RW, 0xf0f0f0f0u, "8.2.3.7.13")             \
	X(RSSRK, 0x0EB80, 10, 4, RW, RESERVED_NONE, "8.2.3.7.14")          \
	X(ETQS, 0x0EC00, 8, 4, RW, RESERVED_NONE, "8.2.3.7.21")            \
	X(SYNQF, 0x0EC30, 1, 4, RW, RESERVED_NONE, "8.2.3.7.22")           \
	X(MRQC, 0x0EC80, 1, 4, RW, RESERVED_NONE, "8.2.3.7.12")            \
	X(FCREDIR, 0x0ED00, 9, 4, RW, RESERVED_NONE, "driver")             \
	X(VFRE, 0x051E0, 2, 4, RW, RESERVED_NONE, "8.2.3.27.4")            \
	X(VFTE, 0x08110, 2, 4, RW, RESERVED_NONE, "8.2.3.27.5")            \
	X(PFDTXGSWC, 0x08220, 1, 4, RW, RESERVED_NONE, "8.2.3.27.8")       \
	X(VMVIR, 0x08000, 64, 4, RW, RESERVED_NONE, "8.2.3.27.17")         \
	X(VMOLR, 0x0F000, 64, 4, RW, RESERVED_NONE, "8.2.3.27.14")         \
	X(VLVF, 0x0F100, 64, 4, RW, RESERVED_NONE, "8.2.3.27.15")          \
	X(VLVFB, 0x0F200, 128, 4, RW, RESERVED_NONE, "8.2.3.27.16")        \
	X(MRCTL, 0x0F600, 4, 4, RW, RESERVED_NONE, "8.2.3.27.21")          \
	X(VMRVLAN, 0x0F610, 16, 4, RW, RESERVED_NONE, "8.2.3.27.22")       \
	/* Flow director */                                                \
	X(FDIRCTRL, 0x0EE00, 1, 4, RW, RESERVED_NONE, "8.2.3.21.1")        \
	X(FDIRSIP6, 0x0EE0C, 3, 4, RW, RESERVED_NONE, "8.2.3.21.13")       \
	X(FDIRIPSA, 0x0EE18, 1, 4, RW, RESERVED_NONE, "8.2.3.21.14")       \
	X(FDIRIPDA, 0x0EE1C, 1, 4, RW, RESERVED_NONE, "8.2.3.21.15")       \
	X(FDIRPORT, 0x0EE20, 1, 4, RW, RESERVED_NONE, "8.2.3.21.16")       \
	X(FDIRVLAN, 0x0EE24, 1, 4, RW, RESERVED_NONE, "8.2.3.21.17")       \
	X(FDIRHASH, 0x0EE28, 1, 4, RW, RESERVED_NONE, "8.2.3.21.18")       \
	X(FDIRCMD, 0x0EE2C, 1, 4, RW, RESERVED_NONE, "8.2.3.21.19")        \
	X(FDIRFREE, 0x0EE38, 1, 4, RO, RESERVED_NONE, "8.2.3.21.20")       \
	X(FDIRDIP4M, 0x0EE3C, 1, 4, RW, RESERVED_NONE, "8.2.3.21.6")       \
	X(FDIRSIP4M, 0x0EE40, 1, 4, RW, RESERVED_NONE, "8.2.3.21.7")       \
	X(FDIRTCPM, 0x0EE44, 1, 4, RW, RESERVED_NONE, "8.2.3.21.8")        \
	X(FDIRUDPM, 0x0EE48, 1, 4, RW, RESERVED_NONE, "8.2.3.21.9")        \
	X(FDIRLEN, 0x0EE4C, 1, 4, RC, RESERVED_NONE, "8.2.3.21.21")        \
	X(FDIRUSTAT, 0x0EE50, 1, 4, RC, RESERVED_NONE, "8.2.3.21.22")      \
	X(FDIRFSTAT, 0x0EE54, 1, 4, RC, RESERVED_NONE, "8.2.3.21.23")      \
	X(FDIRMATCH, 0x0EE58, 1, 4, RC, RESERVED_NONE, "8.2.3.21.24")      \
	X(FDIRMISS, 0x0EE5C, 1, 4, RC, RESERVED_NONE, "8.2.3.21.25")       \
	X(FDIRHKEY, 0x0EE68, 1, 4, RW, RESERVED_NONE, "8.2.3.21.2")        \
	X(FDIRSKEY, 0x0EE6C, 1, 4, RW, RESERVED_NONE, "8.2.3.21.3")        \
	X(FDIRM, 0x0EE70, 1, 4, RW, RESERVED_NONE, "8.2.3.21.11")          \
	X(FDIRIP6M, 0x0EE74, 1, 4, RW, RESERVED_NONE, "8.2.3.21.10")       \
	X(FDIRSCTPM, 0x0EE78, 1, 4, RW, RESERVED_NONE, "8.2.3.21.12")      \
	/* Time synchronisation */                                         \
	X(RXMTRL, 0x05120, 1, 4, RW, RESERVED_NONE, "8.2.3.26.6")          \
	X(TSYNCRXCTL, 0x05188, 1, 4, RW, RESERVED_NONE, "8.2.3.26.1")      \
	X(RXSATRL, 0x051A0, 1, 4, RO, RESERVED_NONE, "8.2.3.26.4")         \
	X(RXSTMPH, 0x051A4, 1, 4, RO, RESERVED_NONE, "8.2.3.26.3")         \
	X(RXSATRH, 0x051A8, 1, 4, RO, RESERVED_NONE, "8.2.3.26.5")         \
	X(RXSTMPL, 0x051E8, 1, 4, RO, RESERVED_NONE, "8.2.3.26.2")         \
	X(TSYNCTXCTL, 0x08C00, 1, 4, RW, RESERVED_NONE, "8.2.3.26.7")      \
	X(TXSTMPL, 0x08C04, 1, 4, RO, RESERVED_NONE, "8.2.3.26.8")         \
	X(TXSTMPH, 0x08C08, 1, 4, RO, RESERVED_NONE, "8.2.3.26.9")         \
	X(SYSTIML, 0x08C0C, 1, 4, RW, RESERVED_NONE, "8.2.3.26.10")        \
	X(SYSTIMH, 0x08C10, 1, 4, RW, RESERVED_NONE, "8.2.3.26.11")        \
	X(TIMINCA, 0x08C14, 1, 4, RW, RESERVED_NONE, "8.2.3.26.12")        \
	X(TIMADJ, 0x08C18, 2, 4, RW, RESERVED_NONE, "8.2.3.26.13")         \
	X(TSAUXC, 0x08C20, 8, 4, RW, RESERVED_NONE, "8.2.3.26.14")         \
	/* EEPROM, semaphores, PCIe */                                     \
	X(EEC, 0x10010, 1, 4, RW, RESERVED_NONE, "8.2.3.2.1")              \
	X(EERD, 0x10014, 1, 4, RW, RESERVED_NONE, "8.2.3.2.2")             \
	X(FLA, 0x1001C, 1, 4, RW, RESERVED_NONE, "8.2.3.2.3")              \
	X(EEMNGCTL, 0x10110, 1, 4, RW, RESERVED_NONE, "8.2.3.2.4")         \
	X(SWSM, 0x10140, 1, 4, RW, RESERVED_NONE, "8.2.3.4.8")             \
	X(FWSM, 0x10148, 1, 4, RW, RESERVED_NONE, "8.2.3.4.9")             \
	X(FACTPS, 0x10150, 1, 4, RO, RESERVED_NONE, "8.2.3.4.7")           \
	X(SW_FW_SYNC, 0x10160, 1, 4, RW, RESERVED_NONE, "8.2.3.4.11")      \
	X(GRC, 0x10200, 1, 4, RW, RESERVED_NONE, "8.2.3.2.5")              \
	X(GCR, 0x11000, 1, 4, RW, RESERVED_NONE, "8.2.3.4.1")              \
	X(GCR_EXT, 0x11050, 1, 4, RW, RESERVED_NONE, "8.2.3.4.10")         \
	X(PFVTCTL, 0x11064, 4, 4, RW, RESERVED_NONE, "driver")             \
	X(CORECTL, 0x14F00, 1, 4, RW, RESERVED_NONE, "driver")             \
	X(WUC, 0x05800, 1, 4, RW, RESERVED_NONE, "8.2.3.24.1")             \
	X(WUFC, 0x05808, 1, 4, RW, RESERVED_NONE, "8.2.3.24.2")            \
	X(WUS, 0x05810, 1, 4, RW, RESERVED_NONE, "driver")                 \
	X(MANC, 0x05820, 1, 4, RW, RESERVED_NONE, "8.2.3.25.3")

enum nic_place {
#define X(name, offset, ...) NIC_##name = (offset),
	NIC_REGISTERS(X)
#undef X
};

#endif
