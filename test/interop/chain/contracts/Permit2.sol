// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

interface Erc20 { function transferFrom(address from, address to, uint256 value) external returns (bool); }
struct TokenPermissions { address token; uint256 amount; }
struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
struct ExactWitness { address to; uint256 validAfter; }
struct UptoWitness { address to; address facilitator; uint256 validAfter; }

/// As much of Uniswap's Permit2 as signed transfers with a witness need, with its signatures and its bitmap of nonces.
contract Permit2 {
    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;
    event UnorderedNonceInvalidation(address indexed owner, uint256 word, uint256 mask);
    string constant STUB = "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,";
    string constant TOKEN = "TokenPermissions(address token,uint256 amount)";

    function invalidateUnorderedNonces(uint256 word, uint256 mask) external { nonceBitmap[msg.sender][word] |= mask; emit UnorderedNonceInvalidation(msg.sender, word, mask); }
    function permitWitnessTransferFrom(PermitTransferFrom calldata permit, address to, uint256 amount, address owner, bytes32 witness, string calldata witnessType, bytes calldata signature) external {
        require(block.timestamp <= permit.deadline, "SignatureExpired");
        require(amount <= permit.permitted.amount, "InvalidAmount");
        uint256 bit = 1 << (permit.nonce & 255);
        require(nonceBitmap[owner][permit.nonce >> 8] & bit == 0, "InvalidNonce");
        nonceBitmap[owner][permit.nonce >> 8] |= bit;
        bytes32 domain = keccak256(abi.encode(keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"), keccak256("Permit2"), block.chainid, address(this)));
        bytes32 permitted = keccak256(abi.encode(keccak256(bytes(TOKEN)), permit.permitted.token, permit.permitted.amount));
        bytes32 what = keccak256(abi.encode(keccak256(abi.encodePacked(STUB, witnessType)), permitted, msg.sender, permit.nonce, permit.deadline, witness));
        require(ecrecover(keccak256(abi.encodePacked("\x19\x01", domain, what)), uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64])) == owner, "InvalidSigner");
        Erc20(permit.permitted.token).transferFrom(owner, to, amount);
    }
}

/// The proxies of x402: money goes only where the payer signed that it may.
contract ExactProxy {
    Permit2 constant PERMIT2 = Permit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    function settle(PermitTransferFrom calldata permit, address owner, ExactWitness calldata witness, bytes calldata signature) external {
        require(block.timestamp >= witness.validAfter, "PaymentTooEarly");
        bytes32 hash = keccak256(abi.encode(keccak256("Witness(address to,uint256 validAfter)"), witness.to, witness.validAfter));
        PERMIT2.permitWitnessTransferFrom(permit, witness.to, permit.permitted.amount, owner, hash, "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)", signature);
    }
}
contract UptoProxy {
    Permit2 constant PERMIT2 = Permit2(0x000000000022D473030F116dDEE9F6B43aC78BA3);
    function settle(PermitTransferFrom calldata permit, uint256 amount, address owner, UptoWitness calldata witness, bytes calldata signature) external {
        require(block.timestamp >= witness.validAfter, "PaymentTooEarly");
        require(msg.sender == witness.facilitator, "UnauthorizedFacilitator");
        bytes32 hash = keccak256(abi.encode(keccak256("Witness(address to,address facilitator,uint256 validAfter)"), witness.to, witness.facilitator, witness.validAfter));
        PERMIT2.permitWitnessTransferFrom(permit, witness.to, amount, owner, hash, "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)", signature);
    }
}

/// Makes any calls in one transaction, as contracts of others do.
contract Multicall {
    struct Call { address to; bytes data; }
    function run(Call[] calldata calls) external { for (uint256 i; i < calls.length; i++) { (bool ok, ) = calls[i].to.call(calls[i].data); require(ok, "call"); } }
}
